package roselle.tokenizer.format;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import roselle.api.CheckpointException;
import roselle.tokenizer.pretokenizer.PreTokenizer;
import roselle.tokenizer.pretokenizer.PreTokenizers;
import roselle.tokenizer.pretokenizer.SequencePreTokenizer;
import roselle.tokenizer.pretokenizer.SplitBehavior;
import roselle.tokenizer.pretokenizer.WordScanner;

/**
 * The ways to cut text into words that {@code tokenizer.ggml.pre} names. Where a model's own tokenizer.json has a
 * clearer form of the same rule than llama.cpp's adaptation to its own engine, the model's form stands here.
 */
final class GgufPreTokenizers {
    private static final String ANY_CASE_SUFFIX = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
    private static final String REST = "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
    private static final String UPPER = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]";
    private static final String LOWER = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]";
    private static final String BEFORE_WORD = "[^\\r\\n\\p{L}\\p{N}]?";
    private static final String PUNCTUATION_RUN = "| ?[^\\s\\p{L}\\p{N}]+";
    private static final String DEEPSEEK_WORDS =
            "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
                    + "| ?[\\p{P}\\p{S}]+[\\r\\n]*"
                    + REST;
    private static final String CJK = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+";
    private static final String DEEPSEEK_CJK = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+";
    private static final String LATIN_TO_DESERET =
            "\\s?[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373"
                    + "\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481"
                    + "\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf"
                    + "\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d"
                    + "\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4"
                    + "\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107"
                    + "\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f"
                    + "\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d"
                    + "\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17"
                    + "\uff21-\uff3a\uff41-\uff5a\\x{10400}-\\x{1044f}\\x{104b0}-\\x{104d3}\\x{104d8}-\\x{104fb}"
                    + "\\x{10c80}-\\x{10cb2}\\x{10cc0}-\\x{10cf2}\\x{118a0}-\\x{118df}\\x{1e900}-\\x{1e943}]+";

    private GgufPreTokenizers() {}

    /** What a name stands for. */
    record Rule(PreTokenizer preTokenizer, boolean ignoresMerges, boolean addsBos) {}

    /**
     * The name of a rule that a tokenizer.json describes; empty where it is not one of those that families of decoders have.
     *
     * @param steps {@code split} with a regular expression that cuts out its matches, {@code digits} that cuts out each digit, and
     *     {@code gpt2} for that tokenizer's words
     */
    static Optional<String> nameOf(List<String> steps, boolean ignoresMerges) {
        return NAMES.entrySet().stream()
                .filter(known -> known.getValue().equals(steps))
                .map(Map.Entry::getKey)
                .filter(name -> named(name).ignoresMerges() == ignoresMerges)
                .findFirst();
    }

    private static final Map<String, List<String>> NAMES = Map.of(
            "gpt-2", List.of("gpt2"),
            "smollm", List.of("digits", "gpt2"),
            "llama-bpe", List.of("split " + uncased("\\p{L}+", "\\p{N}{1,3}")),
            "dbrx", List.of("split " + uncased("\\p{L}+", "\\p{N}{1,3}")), // the same, but for merges
            "qwen2", List.of("split " + uncased("\\p{L}+", "\\p{N}")),
            "tekken", List.of("split " + cased("\\p{N}", "")),
            "gpt-4o", List.of("split " + cased("\\p{N}{1,3}", ANY_CASE_SUFFIX + "?")));

    /** The rule of a name; a {@code CheckpointException} for one that is not known. */
    static Rule named(String name) {
        return switch (name) {
            case "llama3",
                    "llama-v3",
                    "llama-bpe",
                    "falcon3",
                    "falcon-h1",
                    "pixtral",
                    "midm-2.0",
                    "lfm2",
                    "jina-v5-nano" -> new Rule(scanner(WordScanner.Flavor.LLAMA3), true, true);
            case "tekken" -> new Rule(splits(cased("\\p{N}", "")), true, true);
            case "chameleon" -> new Rule(chameleon(), false, true);
            case "youtu" -> new Rule(youtu(), true, false);
            case "minicpm5" -> new Rule(splits("\\p{N}{1,3}", uncased("\\p{L}+", "\\p{N}+")), true, false);
            default -> new Rule(plain(name), false, false);
        };
    }

    private static PreTokenizer plain(String name) {
        return switch (name) {
            case "gpt-2",
                    "phi-2",
                    "jina-es",
                    "jina-de",
                    "gigachat",
                    "jina-v2-es",
                    "jina-v2-de",
                    "a.x-4.0",
                    "mellum",
                    "modern-bert",
                    "jina-v1-en",
                    "jina-v2-code",
                    "roberta-bpe",
                    "mpt",
                    "olmo",
                    "jais",
                    "trillion",
                    "granite-docling",
                    "exaone4" -> scanner(WordScanner.Flavor.GPT2);
            case "dbrx", "smaug-bpe", "glm4", "chatglm-bpe" -> scanner(WordScanner.Flavor.LLAMA3);
            case "qwen2",
                    "deepseek-r1-qwen",
                    "kormo",
                    "f2llmv2",
                    "stablelm2",
                    "hunyuan",
                    "megrez",
                    "solar-open",
                    "grok-2" -> scanner(WordScanner.Flavor.QWEN2);
            case "starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b", "mellum2" ->
                thenGpt2("\\p{N}");
            case "gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2" ->
                splits(cased("\\p{N}{1,3}", ANY_CASE_SUFFIX + "?"));
            case "tiny_aya", "cohere2moe" ->
                splits("\\d{1,3}(?=(?:\\d{3})*\\b)", cased("\\p{N}{1,3}", ANY_CASE_SUFFIX + "?"));
            case "deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4" -> splits("\\p{N}{1,3}", CJK, DEEPSEEK_WORDS);
            default -> rare(name);
        };
    }

    private static PreTokenizer rare(String name) {
        return switch (name) {
            case "falcon" ->
                sequence(
                        splits("[\\p{P}\\$\\+<=>\\^~\\|`]+"),
                        scanner(WordScanner.Flavor.GPT2),
                        splits("[0-9][0-9][0-9]"));
            case "deepseek-coder" -> splits("[\r\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", DEEPSEEK_CJK, "\\p{N}");
            case "deepseek-llm" ->
                splits(
                        "[\r\n]",
                        LATIN_TO_DESERET,
                        "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+",
                        "\\s+$",
                        DEEPSEEK_CJK,
                        "\\p{N}+");
            case "qwen35" ->
                splits(ANY_CASE_SUFFIX + "|" + BEFORE_WORD
                        + "[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*" + REST);
            case "bailingmoe", "bailingmoe2", "llada-moe" ->
                splits("'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*"
                        + "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+");
            case "seed-coder" ->
                splits(ANY_CASE_SUFFIX + "|" + BEFORE_WORD + "\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}\\r\\n]+" + REST);
            case "ufakzeka" -> splits(BEFORE_WORD + "\\p{L}+|\\p{N}" + PUNCTUATION_RUN + "[\\r\\n]*" + REST);
            case "laguna" -> sequence(splits("[^\\n]+|[\\n]+"), scanner(WordScanner.Flavor.QWEN2));
            case "exaone-moe" ->
                splits(ANY_CASE_SUFFIX + "|" + BEFORE_WORD + "(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}"
                        + PUNCTUATION_RUN + "[\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+");
            case "jais-2" -> splits(jais2());
            case "superbpe" -> splits("\\p{N}+", "(?=(?:\\d{3})+(?!\\d))");
            case "bloom", "poro-chat", "gpt3-finnish" ->
                splits(" ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+");
            case "viking" -> splits(" ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+", "\\p{N}");
            case "default", "" ->
                sequence(
                        splits("[\\p{P}\\$\\+<=>\\^~\\|]+"),
                        scanner(WordScanner.Flavor.GPT2),
                        splits("\\p{N}+", "[0-9][0-9][0-9]"));
            default ->
                throw new CheckpointException("tokenizer.ggml.pre is '" + name
                        + "', which is not known: use a conversion of the model that names a known pre-tokenizer");
        };
    }

    /** Words in which case matters, as GPT-4o and Tekken have them. */
    private static String cased(String numbers, String suffix) {
        return BEFORE_WORD + UPPER + "*" + LOWER + "+" + suffix + "|" + BEFORE_WORD + UPPER + "+" + LOWER + "*" + suffix
                + "|" + numbers + PUNCTUATION_RUN + "[\\r\\n/]*" + REST;
    }

    private static String uncased(String letters, String numbers) {
        return ANY_CASE_SUFFIX + "|" + BEFORE_WORD + letters + "|" + numbers + PUNCTUATION_RUN + "[\\r\\n]*" + REST;
    }

    private static String jais2() {
        return ANY_CASE_SUFFIX + "|" + BEFORE_WORD + "\\p{L}+|\\p{N}{1,3}" + PUNCTUATION_RUN
                + "[\\r\\n]*|\\s*[\\r\\n]+|\\s{512}(?!\\S)|\\s{256}(?!\\S)|\\s{128}(?!\\S)|\\s{64}(?!\\S)|\\s{32}(?!\\S)"
                + "|\\s{16}(?!\\S)|\\s{8}(?!\\S)|\\s{4}(?!\\S)|\\s{1,2}(?!\\S)|\\s{1}";
    }

    private static PreTokenizer chameleon() {
        return sequence(
                splits(
                        "<sentinel:[0-9]+>",
                        "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
                        "([\\t\\n]|    |  )",
                        "\\p{N}",
                        "[\\p{P}!-/:-@\\[-`{-~]"),
                scanner(WordScanner.Flavor.GPT2));
    }

    private static PreTokenizer youtu() {
        String suffix = ANY_CASE_SUFFIX + "?";
        return splits(
                "[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f\ufe30-\ufe4f]+"
                        + "|[\u3105-\u312f]+|[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
                cased("\\p{N}", suffix));
    }

    private static PreTokenizer scanner(WordScanner.Flavor flavor) {
        return new WordScanner(flavor);
    }

    private static PreTokenizer thenGpt2(String pattern) {
        return sequence(splits(pattern), scanner(WordScanner.Flavor.GPT2));
    }

    private static PreTokenizer sequence(PreTokenizer... parts) {
        return new SequencePreTokenizer(List.of(parts));
    }

    /** Each pattern in turn cuts out its matches and leaves what lies between to the next. */
    private static PreTokenizer splits(String... patterns) {
        Stream<PreTokenizer> parts =
                Arrays.stream(patterns).map(pattern -> PreTokenizers.split(pattern, SplitBehavior.ISOLATED, false));
        return PreTokenizers.sequence(parts.toList());
    }
}
