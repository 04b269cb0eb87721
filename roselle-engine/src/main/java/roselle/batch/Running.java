package roselle.batch;

import java.util.Arrays;
import roselle.kvcache.SequencePages;

/** A sequence that owns pages and takes part in steps. */
public final class Running implements SequenceState {
    private final Sequence sequence;
    private final SequencePages pages;
    private int computed;
    private int[] drafts = new int[0];
    private int draftCount;

    Running(Sequence sequence, SequencePages pages, int computed) {
        this.sequence = sequence;
        this.pages = pages;
        this.computed = computed;
    }

    @Override
    public Sequence sequence() {
        return sequence;
    }

    public SequencePages pages() {
        return pages;
    }

    /** Tokens whose keys and values are in the pages. */
    public int computed() {
        return computed;
    }

    /** Known tokens that are not computed yet: 1 while it generates, more while it reads its prompt (again). */
    public int remaining() {
        return sequence.length() - computed;
    }

    /** Proposes how the sequence may go on: the next step checks these tokens in one go with the known ones. */
    public void propose(int[] ids, int count) {
        if (drafts.length < count) {
            drafts = new int[count];
        }
        System.arraycopy(ids, 0, drafts, 0, count);
        draftCount = count;
    }

    public int draftCount() {
        return draftCount;
    }

    public int draft(int index) {
        return drafts[index];
    }

    /** The tokens that the sequence has and then the first {@code count} drafts. */
    public int[] idsWithDrafts(int count) {
        int[] ids = Arrays.copyOf(sequence.ids(), sequence.length() + count);
        System.arraycopy(drafts, 0, ids, sequence.length(), count);
        return ids;
    }

    /** Writes the ids of the rows {@code [computed, computed + rows)}, known tokens and then drafts. */
    public void copyRows(int rows, int[] target, int offset) {
        int known = Math.min(rows, remaining());
        System.arraycopy(sequence.ids(), computed, target, offset, known);
        System.arraycopy(drafts, 0, target, offset + known, rows - known);
    }

    /** Records that keys and values up to {@code tokens} are in the pages; proposals are used up. */
    public void advanceTo(int tokens) {
        if (tokens <= computed || tokens > sequence.length()) {
            throw new IllegalStateException("sequence " + sequence.id() + " of " + sequence.length()
                    + " tokens cannot advance from " + computed + " to " + tokens);
        }
        computed = tokens;
        draftCount = 0;
        pages.commit(sequence.ids(), tokens);
    }

    /** Gives the pages back; what was computed is found again as far as the cache keeps it. */
    public Preempted preempt() {
        Preempted preempted = sequence.change(this, new Preempted(sequence));
        leave();
        return preempted;
    }

    /** Gives the pages back for good. */
    public Finished finish(Outcome outcome) {
        Finished finished = sequence.change(this, new Finished(sequence, outcome));
        leave();
        return finished;
    }

    /** Ends for good while a step is still to write to the pages: {@link #releasePages} must follow when it has. */
    public Finished finishAhead(Outcome outcome) {
        Finished finished = sequence.change(this, new Finished(sequence, outcome));
        dropDrafts();
        return finished;
    }

    /** Gives the pages back after {@link #finishAhead}. */
    public void releasePages() {
        pages.release();
    }

    private void leave() {
        pages.release();
        dropDrafts();
    }

    private void dropDrafts() {
        Arrays.fill(drafts, 0);
        draftCount = 0;
    }
}
