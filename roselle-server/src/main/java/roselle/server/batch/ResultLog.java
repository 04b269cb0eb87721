package roselle.server.batch;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SortedMap;
import java.util.TreeMap;

/** The answers of a batch as they come, each line's once, and after a restart those that are there. Thread-safe. */
final class ResultLog implements Closeable {
    private final CheckedLog log;
    private final SortedMap<Integer, Entry> entries;
    private int succeeded;
    private int failed;

    /** How a request ended. */
    enum Outcome {
        SUCCEEDED('+'),
        FAILED('-'),
        NOT_RUN('x');

        private final char mark;

        Outcome(char mark) {
            this.mark = mark;
        }

        static Outcome of(int mark) {
            return mark == '+' ? SUCCEEDED : mark == '-' ? FAILED : NOT_RUN;
        }
    }

    /** Where a line's answer lies. */
    private record Entry(long offset, int length, Outcome outcome) {}

    private ResultLog(CheckedLog log, SortedMap<Integer, Entry> entries) {
        this.log = log;
        this.entries = entries;
        entries.values().forEach(this::count);
    }

    /** Opens the answers of a batch, or begins with none. */
    static ResultLog open(Path file) throws IOException {
        var entries = new TreeMap<Integer, Entry>();
        var log = CheckedLog.open(file, (record, offset) -> {
            int space = new String(record, 0, Math.min(record.length, 16), StandardCharsets.ISO_8859_1).indexOf(' ');
            int line = Integer.parseInt(new String(record, 1, space - 1, StandardCharsets.US_ASCII));
            entries.putIfAbsent(line, new Entry(offset + space + 1, record.length - space - 1, Outcome.of(record[0])));
        });
        return new ResultLog(log, entries);
    }

    private void count(Entry entry) {
        succeeded += entry.outcome() == Outcome.SUCCEEDED ? 1 : 0;
        failed += entry.outcome() == Outcome.FAILED ? 1 : 0;
    }

    /** Adds a line's answer; what it has already stays. */
    synchronized void add(int line, Outcome outcome, byte[] answer) {
        if (entries.containsKey(line)) {
            return;
        }
        byte[] head = (outcome.mark + Integer.toString(line) + " ").getBytes(StandardCharsets.US_ASCII);
        byte[] record = ByteBuffer.allocate(head.length + answer.length)
                .put(head)
                .put(answer)
                .array();
        long offset = log.append(record);
        var entry = new Entry(offset + head.length, answer.length, outcome);
        entries.put(line, entry);
        count(entry);
    }

    synchronized boolean has(int line) {
        return entries.containsKey(line);
    }

    synchronized int succeeded() {
        return succeeded;
    }

    synchronized int failed() {
        return failed;
    }

    synchronized boolean has(Outcome outcome) {
        return entries.values().stream().anyMatch(entry -> entry.outcome() == outcome);
    }

    /** Writes those that succeeded, or the others, or all, in the order of their lines; returns how many bytes these are. */
    synchronized long write(Path file, boolean ofSucceeded, boolean ofOthers) throws IOException {
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
            for (Entry entry : entries.values()) {
                if (entry.outcome() == Outcome.SUCCEEDED ? ofSucceeded : ofOthers) {
                    out.write(log.read(entry.offset(), entry.length()));
                    out.write('\n');
                }
            }
        }
        return Files.size(file);
    }

    void force() {
        log.force();
    }

    @Override
    public void close() throws IOException {
        log.close();
    }
}
