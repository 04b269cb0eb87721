package roselle.batch;

import java.util.Arrays;
import roselle.kvcache.SequencePages;

/** A sequence that owns pages and takes part in steps. */
public final class Running implements SequenceState {
    private static final int NO_ROW = -1;

    private final Sequence sequence;
    private final SequencePages pages;
    private final int lengthToRead; // tokens that it had when it was given its pages
    private int computed;
    private int[] drafts = new int[0];
    private int draftCount;
    private int expectedRows; // 0 but while a step is planned ahead
    private int expectedFrom = NO_ROW;
    private boolean sitsOut;

    Running(Sequence sequence, SequencePages pages, int computed) {
        this.sequence = sequence;
        this.pages = pages;
        this.computed = computed;
        lengthToRead = sequence.length();
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

    /**
     * Tokens that are not computed yet: 1 while it generates, more while it reads its prompt (again) or has been given tokens that it
     * did not have to sample, 0 where the next one is not known yet; all this when the step is done that is {@link #expect expected}.
     */
    public int remaining() {
        int coming = expectedFrom == NO_ROW ? 0 : 1;
        return sitsOut ? 0 : sequence.length() + coming - expectedComputed();
    }

    /** Whether it has read its prompt but for the last token (again), when the expected step is done. */
    public boolean isGenerating() {
        return expectedComputed() >= lengthToRead - 1;
    }

    /**
     * Says what the step under way does for this sequence, while the step after it is planned.
     *
     * @param rows that it computes
     * @param from the row of logits from which it samples the next token, −1 where it samples none
     */
    public void expect(int rows, int from) {
        expectedRows = rows;
        expectedFrom = from;
    }

    /** Leaves it out of the step that is planned. */
    public void sitOut() {
        sitsOut = true;
    }

    /** Ends {@link #expect} and {@link #sitOut}. */
    public void expectNothing() {
        expectedRows = 0;
        expectedFrom = NO_ROW;
        sitsOut = false;
    }

    /** Whether it has rows in the step under way, while the step after it is planned. */
    boolean isExpected() {
        return expectedRows > 0;
    }

    /** The row of logits from which its next token is being sampled, −1 where that is known or none is. */
    int expectedFrom() {
        return expectedFrom;
    }

    /** Tokens whose keys and values are in the pages when the expected step is done. */
    public int expectedComputed() {
        return computed + expectedRows;
    }

    /** Whether its next token is being sampled: there is nothing yet that drafts could follow. */
    public boolean awaitsToken() {
        return expectedFrom != NO_ROW;
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

    /** Writes the ids of the rows {@code [from, from + rows)}, known tokens and then drafts. */
    void copyRows(int from, int rows, int[] target, int offset) {
        int known = Math.min(rows, sequence.length() - from);
        System.arraycopy(sequence.ids(), from, target, offset, known);
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
