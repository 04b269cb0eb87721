package roselle.server;

import java.util.List;
import java.util.Map;

/** Bodies of the paths of KServe's protocol, for tests that go through all paths. */
final class KserveBodies {
    static final String INFER = "/v2/models/{model}/infer";
    static final String GENERATE = "/v2/models/{model}/generate";
    static final String STREAM = "/v2/models/{model}/generate_stream";
    static final String INDEX = "/v2/repository/index";

    private static final String TEXT = """
            {"name":"text_input","shape":[1],"datatype":"BYTES","data":["a"],"parameters":{}}""";

    private static final String SHORT_TENSORS =
            "{\"inputs\":[" + TEXT.replace(",\"parameters\":{}", "") + "],\"parameters\":{\"max_tokens\":1}}";

    private static final String SHORT = "{\"text_input\":\"a\",\"parameters\":{\"max_tokens\":1}}";

    private static final String OF_FORMAT = """
            {"max_tokens":1,"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{}}}}""";

    private static final List<String> OBJECTS = List.of(
            "{\"text_input\":\"a\",\"parameters\":{\"max_tokens\":1,\"structured_outputs\":{\"choice\":[\"a\"]}}}",
            "{\"text_input\":\"a\",\"parameters\":" + OF_FORMAT + "}");

    /** With every object that there is a schema for. */
    static final Map<String, List<String>> WHOLE = Map.of(
            INFER,
            List.of(
                    "{\"id\":\"a\",\"inputs\":[" + TEXT
                            + "],\"outputs\":[{\"name\":\"text_output\",\"parameters\":{}}],"
                            + "\"parameters\":{\"max_tokens\":1,\"structured_outputs\":{\"choice\":[\"a\"]}}}",
                    "{\"inputs\":[" + TEXT + "],\"parameters\":" + OF_FORMAT + "}"),
            GENERATE,
            OBJECTS,
            STREAM,
            OBJECTS,
            INDEX,
            List.of("{}"));

    /** With nothing but what must be there. */
    static final Map<String, String> SHORTEST =
            Map.of(INFER, SHORT_TENSORS, GENERATE, SHORT, STREAM, SHORT, INDEX, "{}");

    /** With a value that is right for every field. */
    static final Map<String, List<String>> FILLED = Map.of(
            INFER,
            List.of(
                    "{\"inputs\":[" + TEXT
                            + ",{\"name\":\"return_logprobs\",\"shape\":[1],\"datatype\":\"BOOL\",\"data\":[true],\"parameters\":{}}],"
                            + "\"outputs\":[{\"name\":\"text_output\",\"parameters\":{}}],"
                            + "\"parameters\":{\"max_tokens\":1,\"stop\":[\"x\"],\"stop_token_ids\":[1],\"logit_bias\":{\"1\":1}}}"),
            GENERATE,
            List.of("{\"text_input\":\"a\",\"parameters\":{\"max_tokens\":1,\"n\":1}}"),
            STREAM,
            List.of("{\"text_input\":\"a\",\"stream\":true,\"parameters\":{\"max_tokens\":1}}"),
            INDEX,
            List.of("{\"ready\":true}"));

    private KserveBodies() {}

    /** A path of the document with the demo model's name. */
    static String url(String path) {
        return path.replace("{model}", "demo");
    }
}
