package roselle.tokenizer;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import roselle.checkpoint.Metadata;
import roselle.checkpoint.path.Checkpoints;
import roselle.testing.SharedData;
import roselle.tokenizer.pretokenizer.WordScanner;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A real vocabulary, which comes as GGUF, written as the tokenizer.json that the model was released with. */
public final class GgufAsTokenizerJson {
    private static final JsonMapper MAPPER = new JsonMapper();
    private static final String ISOLATED = ",\"behavior\":\"Isolated\",\"invert\":false}";
    private static final String BYTE_LEVEL =
            "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":%s}";

    private final ObjectNode json = MAPPER.createObjectNode();
    private final List<String> tokens;
    private final int[] types;
    private final Metadata metadata;

    private GgufAsTokenizerJson(Metadata metadata) {
        this.metadata = metadata;
        tokens = metadata.strings("tokenizer.ggml.tokens");
        types = metadata.integers("tokenizer.ggml.token_type");
        json.put("version", "1.0");
        json.putNull("truncation");
        json.putNull("padding");
        addTokens(json.putArray("added_tokens"));
    }

    /** The JSON of one of the shared vocabularies: gpt-2, deepseek-coder, falcon or llama-spm. */
    static String of(String name) {
        try (var checkpoint = Checkpoints.open(SharedData.path("vocab/ggml-vocab-" + name + ".gguf"))) {
            var converter = new GgufAsTokenizerJson(checkpoint.config());
            return name.equals("llama-spm") ? converter.sentencePiece() : converter.byteLevel(name);
        }
    }

    private void addTokens(ArrayNode added) {
        for (int id = 0; id < types.length; id++) {
            if (types[id] == 2 || types[id] == 3 || types[id] == 4) {
                var token = added.addObject();
                token.put("id", id).put("content", tokens.get(id)).put("special", types[id] != 4);
                token.put("single_word", false)
                        .put("lstrip", false)
                        .put("rstrip", false)
                        .put("normalized", false);
            }
        }
    }

    private String byteLevel(String name) {
        json.putNull("normalizer");
        json.set("pre_tokenizer", MAPPER.readTree(preTokenizer(name)));
        json.putNull("post_processor");
        json.set("decoder", MAPPER.readTree(BYTE_LEVEL.formatted("true")));
        var merges = addModel(false, "").putArray("merges");
        metadata.strings("tokenizer.ggml.merges").forEach(merges::add);
        return json.toString();
    }

    private static String preTokenizer(String name) {
        String sequence = "{\"type\":\"Sequence\",\"pretokenizers\":[%s]}";
        return switch (name) {
            case "falcon" ->
                sequence.formatted(split("[\\p{P}\\$\\+<=>\\^~\\|`]+") + ","
                        + split(WordScanner.Flavor.GPT2.pattern()) + "," + split("[0-9][0-9][0-9]") + ","
                        + BYTE_LEVEL.formatted("false"));
            case "deepseek-coder" ->
                sequence.formatted(split("[\r\n]") + "," + split("\\s?\\p{L}+") + "," + split("\\s?\\p{P}+") + ","
                        + split("[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+") + "," + split("\\p{N}") + ","
                        + BYTE_LEVEL.formatted("false"));
            default -> BYTE_LEVEL.formatted("true");
        };
    }

    public static String split(String pattern) {
        return "{\"type\":\"Split\",\"pattern\":{\"Regex\":" + MAPPER.writeValueAsString(pattern) + "}" + ISOLATED;
    }

    private ObjectNode addModel(boolean byteFallback, String unknown) {
        var model = json.putObject("model");
        model.put("type", "BPE")
                .putNull("dropout")
                .put("fuse_unk", byteFallback)
                .put("byte_fallback", byteFallback);
        model.putNull("continuing_subword_prefix").putNull("end_of_word_suffix");
        if (unknown.isEmpty()) {
            model.putNull("unk_token");
        } else {
            model.put("unk_token", unknown);
        }
        var vocabulary = model.putObject("vocab");
        for (int id = 0; id < tokens.size(); id++) {
            vocabulary.put(tokens.get(id), id);
        }
        return model;
    }

    private String sentencePiece() {
        json.set(
                "normalizer",
                MAPPER.readTree("{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\",\"prepend\":\"\u2581\"},"
                        + "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"\u2581\"}]}"));
        json.putNull("pre_tokenizer");
        json.putNull("post_processor");
        json.set(
                "decoder",
                MAPPER.readTree("{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":"
                        + "\"\u2581\"},\"content\":\" \"},{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"},"
                        + "{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}]}"));
        var merges = addModel(true, "<unk>").putArray("merges");
        scoredMerges().forEach(pair -> merges.addArray().add(pair.left).add(pair.right));
        return json.toString();
    }

    private record ScoredPair(String left, String right, float score) {}

    /** Each way to cut a token into two, the best score first, as Hugging Face's converter writes them. */
    private List<ScoredPair> scoredMerges() {
        var ids = new java.util.HashMap<String, Integer>();
        for (int id = 0; id < tokens.size(); id++) {
            if (types[id] == 1) {
                ids.put(tokens.get(id), id);
            }
        }
        float[] scores = metadata.numbers("tokenizer.ggml.scores");
        var pairs = new ArrayList<ScoredPair>();
        ids.forEach((token, id) -> {
            for (int cut = 1; cut < token.length(); cut++) {
                if (ids.containsKey(token.substring(0, cut)) && ids.containsKey(token.substring(cut))) {
                    pairs.add(new ScoredPair(token.substring(0, cut), token.substring(cut), scores[id]));
                }
            }
        });
        Comparator<ScoredPair> byScore = Comparator.comparingDouble(ScoredPair::score);
        pairs.sort(byScore.reversed()
                .thenComparing(pair -> ids.get(pair.left))
                .thenComparing(pair -> ids.get(pair.right)));
        return pairs;
    }
}
