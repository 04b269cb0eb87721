package roselle.scheduler;

import java.util.ArrayList;
import java.util.List;
import roselle.kvcache.PageLayout;
import roselle.kvcache.SequencePages;

/**
 * A step on its way through a simulated device: all that a device is told at the launch, so that it may run later.
 *
 * <p>It writes a content that names the whole prefix to each row's position, then checks that what the rows see is their own.
 */
final class SimulatedStep {
    /** The rows of one sequence. */
    static final class Part {
        private final SimulatedRequest request;
        private final int[][] tables; // [groups][pages]
        private final int begin; // position of the first row
        private final long[] prefixes; // [rows] the hash of the sequence up to each row

        Part(SimulatedRequest request, int[][] tables, int begin, long[] prefixes) {
            this.request = request;
            this.tables = tables;
            this.begin = begin;
            this.prefixes = prefixes;
        }

        int end() {
            return begin + prefixes.length;
        }

        long prefix(int position) {
            return position < begin ? request.prefix(position) : prefixes[position - begin];
        }
    }

    /** One page to be copied before anything else. */
    private record Copy(int group, int from, int to) {}

    private final PageLayout layout;
    private final SimulatedKv kv;
    private final List<Copy> copies = new ArrayList<>();
    private final List<Part> parts = new ArrayList<>();
    private boolean hasRun;

    SimulatedStep(PageLayout layout, SimulatedKv kv) {
        this.layout = layout;
        this.kv = kv;
    }

    static int[][] tables(PageLayout layout, SequencePages pages) {
        var tables = new int[layout.groupCount()][pages.pageCount()];
        for (int group = 0; group < tables.length; group++) {
            pages.copyTable(group, tables[group], 0);
        }
        return tables;
    }

    void copy(SequencePages pages) {
        for (int group = 0; group < layout.groupCount(); group++) {
            copies.add(new Copy(group, pages.copySource(group), pages.copyTarget(group)));
        }
    }

    void add(Part part) {
        parts.add(part);
    }

    void run(Sabotage sabotage) {
        if (hasRun) {
            return;
        }
        hasRun = true;
        for (Copy copy : copies) {
            kv.copyPage(copy.group, copy.from, copy.to);
        }
        for (Part part : parts) {
            write(part, sabotage);
        }
        for (Part part : parts) {
            read(part);
        }
    }

    private void write(Part part, Sabotage sabotage) {
        for (int row = 0; row < part.prefixes.length; row++) {
            int position = part.begin + row;
            boolean isComputed = sabotage.computes(row, part.prefixes.length);
            for (int group = 0; isComputed && group < layout.groupCount(); group++) {
                write(group, part.tables[group][position / layout.pageTokens()], position, part.prefixes[row]);
            }
        }
    }

    private void write(int group, int page, int position, long prefix) {
        if (page < 0 && layout.isSparse(group)) {
            return;
        }
        kv.write(group, page, position, prefix);
        if (position % layout.pageTokens() == layout.pageTokens() - 1) {
            kv.writeState(group, page, prefix);
        }
    }

    /** The state that a sequence goes on from at a position, and the rows since, must be its own. */
    private void readState(Part part, int group, int position) {
        int boundary = position / layout.pageTokens() * layout.pageTokens();
        int before = boundary == 0 ? 0 : part.tables[group][boundary / layout.pageTokens() - 1];
        boolean isOwn = boundary == 0 || (before >= 0 && kv.state(group, before) == part.prefix(boundary - 1));
        for (int row = boundary; row < position; row++) {
            int page = part.tables[group][row / layout.pageTokens()];
            isOwn &= page >= 0 && kv.read(group, page, row) == part.prefix(row);
        }
        if (!isOwn) {
            throw new AssertionError("sequence " + part.request.sequence.id() + " goes on at position " + position
                    + " of group " + group + " from another's state");
        }
    }

    /** What the queries of the first and the last row see must be exactly this sequence's own prefixes. */
    private void read(Part part) {
        for (int group = 0; group < layout.groupCount(); group++) {
            if (layout.isSparse(group)) {
                readState(part, group, part.begin);
                readState(part, group, part.end());
                continue;
            }
            for (int position = layout.firstSeen(group, part.begin); position < part.end(); position++) {
                int page = part.tables[group][position / layout.pageTokens()];
                if (page < 0 || kv.read(group, page, position) != part.prefix(position)) {
                    throw new AssertionError("sequence " + part.request.sequence.id() + " reads position " + position
                            + " of group " + group + " from page " + page + " and finds another's content");
                }
            }
        }
    }
}
