package roselle.tokenizer;

import ai.djl.huggingface.tokenizers.Encoding;
import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import ai.djl.huggingface.tokenizers.jni.CharSpan;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Hugging Face's own tokenizers library, run on a tokenizer.json. */
public final class HuggingFaceReference implements AutoCloseable {
    private final HuggingFaceTokenizer tokenizer;

    HuggingFaceReference(String json) throws IOException {
        tokenizer = HuggingFaceTokenizer.newInstance(
                new ByteArrayInputStream(json.getBytes(StandardCharsets.UTF_8)),
                Map.of("truncation", "false", "padding", "false", "addSpecialTokens", "false"));
    }

    /** A tokenizer whose pieces {@link #pieces} shows. */
    public static HuggingFaceReference ofPreTokenizer(String preTokenizer) throws IOException {
        return new HuggingFaceReference("{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\"added_tokens\":[],"
                + "\"normalizer\":null,\"pre_tokenizer\":" + preTokenizer + ",\"post_processor\":null,\"decoder\":null,"
                + "\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"u\":0},\"unk_token\":\"u\"}}");
    }

    int[] encode(String text) {
        return encode(text, false);
    }

    int[] encode(String text, boolean addSpecial) {
        return Arrays.stream(tokenizer.encode(text, addSpecial, false).getIds())
                .mapToInt(Math::toIntExact)
                .toArray();
    }

    String decode(int[] ids, boolean skipSpecial) {
        return tokenizer.decode(Arrays.stream(ids).asLongStream().toArray(), skipSpecial);
    }

    /** Begin and end of each piece in code points of the text. */
    public List<List<Integer>> pieces(String text) {
        Encoding encoding = tokenizer.encode(text, false, false);
        var pieces = new ArrayList<List<Integer>>();
        for (CharSpan span : encoding.getCharTokenSpans()) {
            pieces.add(List.of(span.getStart(), span.getEnd()));
        }
        return pieces;
    }

    @Override
    public void close() {
        tokenizer.close();
    }
}
