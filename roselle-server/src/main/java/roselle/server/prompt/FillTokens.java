package roselle.server.prompt;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import roselle.api.Prompt;
import roselle.server.http.ApiException;
import roselle.tokenizer.Tokenizer;

/**
 * The tokens by which a model is asked for what stands between two texts, where its tokenizer has some.
 *
 * @param ends which a model may write behind what it filled in
 */
public record FillTokens(int prefix, int suffix, int middle, Set<Integer> ends) {
    /** Spellings of the three, as families of models have them. */
    private static final List<List<String>> FAMILIES = List.of(
            List.of("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),
            List.of("<fim_prefix>", "<fim_suffix>", "<fim_middle>"),
            List.of("<fim-prefix>", "<fim-suffix>", "<fim-middle>"),
            List.of("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"),
            List.of("▁<PRE>", "▁<SUF>", "▁<MID>"),
            List.of("<PRE>", "<SUF>", "<MID>"),
            List.of("<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>"),
            List.of("<|prefix|>", "<|suffix|>", "<|middle|>"));

    private static final List<String> ENDS = List.of(
            "<|fim_pad|>",
            "<fim_pad>",
            "<fim-pad>",
            "<|repo_name|>",
            "<|file_sep|>",
            "<file_sep>",
            "<|file_separator|>",
            "▁<EOT>",
            "<EOT>");

    /** Those of a tokenizer; a request that needs them for a field is refused where there are none. */
    public static FillTokens of(Tokenizer tokenizer, String field) {
        return FAMILIES.stream()
                .flatMap(family -> of(tokenizer, family).stream())
                .findFirst()
                .orElseThrow(() -> ApiException.invalid(
                        field, field + " is there, but the model's tokenizer has no tokens to fill in text with"));
    }

    private static Optional<FillTokens> of(Tokenizer tokenizer, List<String> family) {
        int[] ids = family.stream()
                .flatMapToInt(token -> tokenizer.idOf(token).stream())
                .toArray();
        if (ids.length < family.size()) {
            return Optional.empty();
        }
        return Optional.of(new FillTokens(ids[0], ids[1], ids[2], ends(tokenizer)));
    }

    /** Tokens that a model may write behind what it filled in, as far as a tokenizer has any. */
    public static Set<Integer> ends(Tokenizer tokenizer) {
        return ENDS.stream()
                .flatMapToInt(token -> tokenizer.idOf(token).stream())
                .boxed()
                .collect(Collectors.toUnmodifiableSet());
    }

    /**
     * The prompt for what stands between two texts.
     *
     * @param before text or tokens
     * @param begun with which what is filled in begins
     */
    public Prompt.Tokens between(Prompt before, String after, String begun, Function<Prompt, int[]> encoder) {
        var ids = new ArrayList<Integer>();
        add(ids, encoder.apply(new Prompt.Text("", true, false))); // what the model expects around a text
        ids.add(prefix);
        add(ids, encoder.apply(before));
        ids.add(suffix);
        add(ids, encoder.apply(plain(after)));
        ids.add(middle);
        add(ids, encoder.apply(plain(begun)));
        return new Prompt.Tokens(ids);
    }

    /** A text in which nothing is special. */
    public static Prompt plain(String text) {
        return new Prompt.Text(text, false, false);
    }

    private static void add(List<Integer> ids, int[] more) {
        Arrays.stream(more).forEach(ids::add);
    }
}
