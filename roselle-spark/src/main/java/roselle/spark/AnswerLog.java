package roselle.spark;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.jspecify.annotations.Nullable;
import roselle.api.FinishReason;
import roselle.api.Usage;
import roselle.offline.Answer;

/**
 * The answers of a partition, kept in a folder for attempts that follow, each by what names its row. Thread-safe.
 *
 * <p>Answers are written some at a time, into a file of their own that is never touched again: object stores have no other. A file that
 * its writer did not finish counts as far as its records are sound.
 */
final class AnswerLog implements AutoCloseable {
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);
    private static final int READ_FILES = 8;
    private static final int HEAD_BYTES = 2 * Integer.BYTES;

    private final FileSystem files;
    private final Path folder;
    private final int rowsAtATime;
    private final InstantSource clock;
    private final Map<String, Place> places = new HashMap<>();
    private final List<byte[]> unwritten = new ArrayList<>();
    private final Map<Path, byte[]> read = new LinkedHashMap<>(READ_FILES, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Path, byte[]> eldest) {
            return size() > READ_FILES;
        }
    };
    private long unwrittenSince;

    /** Where a record's contents lie. */
    private record Place(Path file, int offset, int length) {}

    private AnswerLog(FileSystem files, Path folder, int rowsAtATime, InstantSource clock) {
        this.files = files;
        this.folder = folder;
        this.rowsAtATime = rowsAtATime;
        this.clock = clock;
    }

    /** The log of a partition: a folder of its number below that of the query. */
    static AnswerLog open(String query, int partition, int rowsAtATime, Configuration configuration) {
        return open(query, partition, rowsAtATime, configuration, InstantSource.system());
    }

    static AnswerLog open(
            String query, int partition, int rowsAtATime, Configuration configuration, InstantSource clock) {
        var folder = new Path(query, "partition-" + partition);
        try {
            FileSystem files = folder.getFileSystem(configuration);
            if (files instanceof LocalFileSystem local) {
                files = local.getRawFileSystem(); // its checksums are of no use for a file that was not finished
            }
            files.mkdirs(folder);
            var log = new AnswerLog(files, files.makeQualified(folder), rowsAtATime, clock);
            for (FileStatus file : files.listStatus(folder)) {
                log.find(file.getPath());
            }
            return log;
        } catch (IOException failure) {
            throw new UncheckedIOException(
                    "cannot read the checkpoint " + folder + ": " + failure.getMessage(), failure);
        }
    }

    private void find(Path file) throws IOException {
        byte[] bytes = bytes(file);
        var buffer = ByteBuffer.wrap(bytes);
        while (buffer.remaining() >= HEAD_BYTES) {
            int length = buffer.getInt();
            int sum = buffer.getInt();
            int offset = buffer.position();
            if (length < 0 || length > buffer.remaining() || sum(bytes, offset, length) != sum) {
                return; // its writer ended here
            }
            places.put(content(bytes, offset, length).readUTF(), new Place(file, offset, length));
            buffer.position(offset + length);
        }
    }

    private byte[] bytes(Path file) throws IOException {
        byte[] bytes = read.get(file);
        if (bytes == null) {
            try (var in = files.open(file)) {
                bytes = in.readAllBytes();
            }
            read.put(file, bytes);
        }
        return bytes;
    }

    private static int sum(byte[] bytes, int offset, int length) {
        var sum = new CRC32C();
        sum.update(bytes, offset, length);
        return (int) sum.getValue();
    }

    private static DataInputStream content(byte[] bytes, int offset, int length) {
        return new DataInputStream(new ByteArrayInputStream(bytes, offset, length));
    }

    /** How many answers earlier attempts have left. */
    synchronized int size() {
        return places.size();
    }

    /** The answer that an earlier attempt has left. */
    synchronized Optional<Answer.Generated> find(String key) {
        @Nullable Place place = places.get(key);
        if (place == null) {
            return Optional.empty();
        }
        try {
            var in = content(bytes(place.file()), place.offset(), place.length());
            in.readUTF();
            return Optional.of(answer(in));
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot read " + place.file() + ": " + failure.getMessage(), failure);
        }
    }

    /** Keeps an answer; it may be written later, with others. */
    synchronized void add(String key, Answer.Generated answer) {
        if (unwritten.isEmpty()) {
            unwrittenSince = clock.millis();
        }
        unwritten.add(record(key, answer));
        if (unwritten.size() >= rowsAtATime || clock.millis() - unwrittenSince >= LONGEST_WAIT.toMillis()) {
            write();
        }
    }

    private void write() {
        var file = new Path(folder, UUID.randomUUID().toString());
        try (var out = files.create(file, false)) {
            for (byte[] record : unwritten) {
                out.writeInt(record.length);
                out.writeInt(sum(record, 0, record.length));
                out.write(record);
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(
                    "cannot write the checkpoint " + file + ": " + failure.getMessage(), failure);
        }
        unwritten.clear();
    }

    /** Writes what has not been written. */
    @Override
    public synchronized void close() {
        if (!unwritten.isEmpty()) {
            write();
        }
    }

    private static byte[] record(String key, Answer.Generated answer) {
        var bytes = new ByteArrayOutputStream();
        try (var out = new DataOutputStream(bytes)) {
            out.writeUTF(key);
            writeText(out, answer.text());
            writeText(out, answer.reasoning());
            out.writeInt(answer.tokens().size());
            for (int token : answer.tokens()) {
                out.writeInt(token);
            }
            out.writeUTF(answer.reason().name());
            Usage usage = answer.usage();
            out.writeInt(usage.promptTokens());
            out.writeInt(usage.completionTokens());
            out.writeInt(usage.reasoningTokens());
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // there is no disk
        }
        return bytes.toByteArray();
    }

    private static void writeText(DataOutputStream out, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private static String readText(DataInputStream in) throws IOException {
        return new String(in.readNBytes(in.readInt()), StandardCharsets.UTF_8);
    }

    private static Answer.Generated answer(DataInputStream in) throws IOException {
        String text = readText(in);
        String reasoning = readText(in);
        var tokens = new Integer[in.readInt()];
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = in.readInt();
        }
        var reason = FinishReason.valueOf(in.readUTF());
        var usage = new Usage(in.readInt(), 0, in.readInt(), in.readInt(), 0, 0, 0);
        return new Answer.Generated(text, reasoning, Arrays.asList(tokens), reason, usage);
    }
}
