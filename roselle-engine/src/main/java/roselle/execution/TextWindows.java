package roselle.execution;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import roselle.api.InvalidRequestException;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.Tokenizer;

/**
 * A text cut into windows of as many tokens, as {@code llama-perplexity} cuts it: what is left at the end is not read, and each window
 * begins with the token with which prompts begin, where there is one.
 */
public final class TextWindows {
    private TextWindows() {}

    /**
     * Cuts a text.
     *
     * @param tokens of a window
     * @param most windows; 0 for all
     */
    public static List<int[]> of(String text, Tokenizer tokenizer, int tokens, int most) {
        int[] ids = tokenizer.encode(text, new EncodeOptions(true, false));
        int[] bare = tokenizer.encode(text, new EncodeOptions(false, false));
        boolean hasBeginning = ids.length > 0 && (bare.length == 0 || ids[0] != bare[0]);
        int count = most == 0 ? ids.length / tokens : Math.min(most, ids.length / tokens);
        if (count == 0) {
            throw new InvalidRequestException("the text has " + ids.length + " tokens, fewer than a window of " + tokens
                    + ": take a longer text or a smaller --context");
        }
        var windows = new ArrayList<int[]>();
        for (int i = 0; i < count; i++) {
            int[] window = Arrays.copyOfRange(ids, i * tokens, (i + 1) * tokens);
            if (hasBeginning) {
                window[0] = ids[0];
            }
            windows.add(window);
        }
        return windows;
    }
}
