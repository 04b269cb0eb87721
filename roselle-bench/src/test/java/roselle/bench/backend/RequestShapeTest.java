package roselle.bench.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import roselle.api.InvalidRequestException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class RequestShapeTest {
    private static final Sampling SAMPLING = new Sampling(0.7, 0.9, 50, true);

    @Test
    void sendsIdsAndEveryFieldToAnEngineThatHonoursThem() {
        JsonNode body = read(Profile.of("vllm").shape().body("m", new int[] {5, 6}, 3, SAMPLING));

        assertThat(body.path("prompt")).extracting(JsonNode::asInt).containsExactly(5, 6);
        assertThat(body.path("max_tokens").asInt()).isEqualTo(3);
        assertThat(body.path("min_tokens").asInt()).isEqualTo(3);
        assertThat(body.path("ignore_eos").asBoolean()).isTrue();
        assertThat(body.path("top_k").asInt()).isEqualTo(50);
        assertThat(body.path("stream_options").path("include_usage").asBoolean())
                .isTrue();
    }

    @Test
    void sendsNothingBeyondOpenAisFieldsToOthers() {
        JsonNode body = read(Profile.of("openai").shape().body("m", "a \"text\"\n", 3, SAMPLING));

        assertThat(body.path("prompt").asString()).isEqualTo("a \"text\"\n");
        assertThat(body.propertyNames())
                .containsExactlyInAnyOrderElementsOf(
                        List.of("prompt", "model", "max_tokens", "temperature", "top_p", "stream", "stream_options"));
    }

    @Test
    void sendsTheFormatToEnginesThatAreKnownToTakeOne() {
        var schema = new AnswerFormat("s.json", "{\"type\": \"integer\"}");
        var held = new Sampling(0.7, 0.9, 50, true, schema);
        JsonNode format = read(Profile.of("roselle").shape().body("m", new int[] {5}, 3, held))
                .path("response_format");
        assertThat(format.path("type").asString()).isEqualTo("json_schema");
        assertThat(format.path("json_schema").path("schema").path("type").asString())
                .isEqualTo("integer");
        var any = new Sampling(0.7, 0.9, 50, true, AnswerFormat.JSON);
        assertThat(read(Profile.of("chat").shape().body("m", "text", 3, any))
                        .path("response_format")
                        .path("type")
                        .asString())
                .isEqualTo("json_object");
        assertThatThrownBy(() -> Profile.of("hf").shape().body("m", new int[] {5}, 3, any))
                .isInstanceOf(BackendException.class);
        assertThatThrownBy(() -> new AnswerFormat("s.json", "{"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageStartingWith("s.json is no JSON schema");
    }

    @Test
    void sendsAMessageToAChat() {
        JsonNode body = read(Profile.of("chat").shape().body("m", "text", 3, SAMPLING));

        assertThat(body.path("messages").path(0).path("content").asString()).isEqualTo("text");
        assertThat(body.has("prompt")).isFalse();
    }

    @Test
    void turnsLlamaCppsCacheOffInEachRequest() {
        JsonNode body = read(Profile.of("llamacpp").shape().body("m", new int[] {5}, 3, SAMPLING));

        assertThat(body.path("cache_prompt").asBoolean(true)).isFalse();
        JsonNode withCache = read(Profile.of("llamacpp").shape().withCache().body("m", new int[] {5}, 3, SAMPLING));
        assertThat(withCache.has("cache_prompt")).isFalse();
    }

    /** Its own default drops tokens that the others keep. */
    @Test
    void sendsLlamaCppANeutralMinP() {
        RequestShape shape = Profile.of("llamacpp").shape();

        assertThat(read(shape.body("m", new int[] {5}, 3, SAMPLING))
                        .path("min_p")
                        .asDouble(1))
                .isZero();
        assertThat(read(shape.withCache().body("m", new int[] {5}, 3, SAMPLING))
                        .path("min_p")
                        .asDouble(1))
                .isZero();
    }

    /** Its front end refuses fields that it does not know. */
    @Test
    void sendsTritonTheLengthAndNoTopK() {
        JsonNode body = read(Profile.of("triton").shape().body("m", "text", 3, SAMPLING));

        assertThat(body.path("ignore_eos").asBoolean()).isTrue();
        assertThat(body.path("min_tokens").asInt()).isEqualTo(3);
        assertThat(body.has("top_k")).isFalse();
    }

    private static JsonNode read(byte[] body) {
        return new JsonMapper().readTree(body);
    }
}
