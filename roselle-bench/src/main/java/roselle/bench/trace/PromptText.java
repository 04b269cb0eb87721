package roselle.bench.trace;

import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import roselle.api.InvalidRequestException;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.Tokenizer;

/**
 * Prompts as text whose number of tokens is known: for endpoints that take no ids.
 *
 * <p>Text is made of tokens that are words of their own (a space and letters), which a tokenizer does not merge with their
 * neighbours; the result is encoded again, with the special tokens that a server adds, and corrected until the length is
 * exact.
 */
public final class PromptText {
    private static final EncodeOptions AS_SERVED = new EncodeOptions(true, false);
    private static final int MAX_WORDS = 4096;
    private static final int MAX_TRIES = 32;

    private final Tokenizer tokenizer;

    public PromptText(Tokenizer tokenizer) {
        this.tokenizer = tokenizer;
    }

    /** Every token but those that mark structure: what prompts of ids are drawn from. */
    public static int[] plainTokens(Tokenizer tokenizer) {
        return IntStream.range(0, tokenizer.vocabularySize())
                .filter(id -> !tokenizer.isSpecial(id))
                .toArray();
    }

    /** Up to a few thousand tokens that stand for a word each: what prompts of text are drawn from. */
    public int[] words(long seed) {
        var random = new SplittableRandom(seed);
        Set<Integer> words = new LinkedHashSet<>();
        int size = tokenizer.vocabularySize();
        for (int tries = 0; tries < 16 * MAX_WORDS + size && words.size() < MAX_WORDS; tries++) {
            int id = random.nextInt(size);
            if (!words.contains(id) && isWord(id)) {
                words.add(id);
            }
        }
        if (words.isEmpty()) {
            throw new InvalidRequestException(
                    "the vocabulary has no token that is a word of its own: send ids instead");
        }
        return words.stream().mapToInt(Integer::intValue).toArray();
    }

    private boolean isWord(int id) {
        byte[] bytes = tokenizer.isSpecial(id) ? new byte[0] : tokenizer.bytesOf(id);
        if (bytes.length < 3 || bytes[0] != ' ') {
            return false;
        }
        for (int i = 1; i < bytes.length; i++) {
            if (bytes[i] < 'a' || bytes[i] > 'z') {
                return false;
            }
        }
        String word = tokenizer.decode(new int[] {id}, false);
        return tokenizer.encode("a" + (word.startsWith(" ") ? word : " " + word), EncodeOptions.PLAIN).length == 2
                || tokenizer.encode(word, EncodeOptions.PLAIN).length == 1;
    }

    /** A text near these words that has exactly {@code tokens} tokens, special ones included. */
    public String ofLength(int[] words, int tokens) {
        int[] content = Arrays.copyOf(words, Math.max(1, tokens));
        for (int i = words.length; i < content.length; i++) {
            content[i] = words[i % Math.max(1, words.length)];
        }
        int count = content.length;
        for (int tries = 0; tries < MAX_TRIES && count > 0; tries++) {
            String text = tokenizer.decode(Arrays.copyOf(content, count), false);
            int length = length(text);
            if (length == tokens) {
                return text;
            }
            count += tokens - length;
            if (count > content.length) {
                content = grown(content, count);
            }
        }
        throw new InvalidRequestException("no text of exactly " + tokens
                + " tokens was found: choose longer prompts, or send ids where the endpoint takes them");
    }

    private static int[] grown(int[] content, int count) {
        int[] longer = Arrays.copyOf(content, count);
        for (int i = content.length; i < count; i++) {
            longer[i] = content[i % content.length];
        }
        return longer;
    }

    /** Tokens of a text as a server counts them. */
    public int length(String text) {
        return tokenizer.encode(text, AS_SERVED).length;
    }
}
