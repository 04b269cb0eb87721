package roselle.sampling;

import java.util.Arrays;
import roselle.batch.Running;
import roselle.batch.Sequence;

/** The tokens before the one to be sampled, prompt and answer, as penalties and stop rules see them; reused. */
public final class TokenHistory {
    private int[] ids = new int[0];
    private int first; // of ids
    private int promptLength;
    private int length;

    /** The tokens that {@code sequence} has. */
    public void show(Sequence sequence) {
        ids = sequence.ids();
        first = 0;
        promptLength = sequence.promptLength();
        length = sequence.length();
    }

    /** The tokens that {@code running} has and then the first {@code drafts} of those proposed. */
    public void show(Running running, int drafts) {
        Sequence sequence = running.sequence();
        show(sequence);
        if (drafts > 0) {
            ids = Arrays.copyOf(ids, length + drafts);
            for (int i = 0; i < drafts; i++) {
                ids[length + i] = running.draft(i);
            }
            length += drafts;
        }
    }

    /** The tokens {@code all[0 .. length)}, the first {@code prompt} of which are the prompt. */
    public void show(int[] all, int prompt, int count) {
        show(all, 0, prompt, count);
    }

    /** The tokens {@code all[from .. from + count)}, the first {@code prompt} of which are the prompt. */
    void show(int[] all, int from, int prompt, int count) {
        ids = all;
        first = from;
        promptLength = prompt;
        length = count;
    }

    int id(int index) {
        return ids[first + index];
    }

    int promptLength() {
        return promptLength;
    }

    /** Also the position of the token to be sampled. */
    int length() {
        return length;
    }

    int generated() {
        return length - promptLength;
    }
}
