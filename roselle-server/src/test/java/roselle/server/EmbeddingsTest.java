package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.tokenizer.EncodeOptions;
import tools.jackson.databind.JsonNode;

final class EmbeddingsTest {
    private static DemoServer demo;

    @BeforeAll
    static void start() {
        demo = new DemoServer();
    }

    @AfterAll
    static void stop() {
        demo.close();
    }

    private static JsonNode embed(String input) {
        var response = demo.post("/v1/embeddings", "{\"model\":\"demo\",\"input\":" + input + "}");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return DemoServer.json(response.body());
    }

    private static double[] vector(JsonNode answer, int index) {
        JsonNode numbers = answer.at("/data/" + index + "/embedding");
        var vector = new double[numbers.size()];
        for (int column = 0; column < vector.length; column++) {
            vector[column] = numbers.get(column).asDouble();
        }
        return vector;
    }

    private static double cosine(double[] one, double[] other) {
        double sum = 0;
        for (int column = 0; column < one.length; column++) {
            sum += one[column] * other[column];
        }
        return sum;
    }

    @Test
    void aVectorHasALengthOfOneAndCountsItsTokens() {
        JsonNode answer = embed("\"the happy fox\"");

        double[] vector = vector(answer, 0);
        assertThat(cosine(vector, vector)).isCloseTo(1, within(1e-5));
        assertThat(answer.at("/object").stringValue()).isEqualTo("list");
        assertThat(answer.at("/data/0/object").stringValue()).isEqualTo("embedding");
        int tokens = demo.engine().tokenizer().encode("the happy fox", EncodeOptions.PLAIN).length;
        assertThat(answer.at("/usage/prompt_tokens").intValue()).isEqualTo(tokens);
    }

    @Test
    void aListGivesTheVectorsOfItsTextsInOrder() {
        var texts = new StringBuilder("[\"a small boat on the lake\"");
        for (int index = 0; index < 70; index++) {
            texts.append(",\"number ").append(index).append('"');
        }

        JsonNode answer = embed(texts.append("]").toString());

        assertThat(answer.at("/data")).hasSize(71);
        assertThat(vector(answer, 0)).containsExactly(vector(embed("\"a small boat on the lake\""), 0));
        assertThat(vector(answer, 70)).containsExactly(vector(embed("\"number 69\""), 0));
    }

    @Test
    void likeTextsHaveLikeVectors() {
        JsonNode answer = embed("[\"the fox went for a walk\",\"the bear went for a walk\",\"17 + 25 = 42\"]");

        assertThat(cosine(vector(answer, 0), vector(answer, 1)))
                .isGreaterThan(cosine(vector(answer, 0), vector(answer, 2)));
    }

    @Test
    void packedVectorsAreLittleEndianFloats() {
        double[] plain = vector(embed("\"fox\""), 0);
        var response =
                demo.post("/v1/embeddings", "{\"model\":\"demo\",\"input\":\"fox\",\"encoding_format\":\"base64\"}");

        String packed = DemoServer.json(response.body()).at("/data/0/embedding").stringValue();
        var floats = ByteBuffer.wrap(Base64.getDecoder().decode(packed))
                .order(ByteOrder.LITTLE_ENDIAN)
                .asFloatBuffer();

        assertThat(floats.remaining()).isEqualTo(plain.length);
        assertThat((double) floats.get(3)).isCloseTo(plain[3], within(1e-7));
    }

    @Test
    void tokenIdsGiveTheVectorOfTheirText() {
        int[] ids = demo.engine().tokenizer().encode("one fox", EncodeOptions.PLAIN);

        JsonNode fromIds = embed("[[" + ids[0] + "," + ids[1] + "]]");

        assertThat(ids).hasSize(2);
        assertThat(fromIds.at("/usage/prompt_tokens").intValue()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\0', textBlock = """
            {"model":"demo"}                                           | input
            {"model":"demo","input":[]}                                | input
            {"model":"demo","input":""}                                | null
            {"model":"demo","input":{"a":1}}                           | input
            {"model":"demo","input":["a",7]}                           | input[1]
            {"model":"demo","input":"a","dimensions":3}                | dimensions
            {"model":"demo","input":"a","encoding_format":"int8"}      | encoding_format
            {"model":"demo","input":"a","truncate":true}               | truncate
            """)
    void aFaultyRequestIsRefusedByName(String body, String parameter) {
        var response = demo.post("/v1/embeddings", body);

        assertThat(response.statusCode()).isEqualTo(400);
        JsonNode error = DemoServer.json(response.body()).at("/error");
        assertThat(error.at("/param").asString("null")).isEqualTo(parameter);
        assertThat(error.at("/message").stringValue()).isNotBlank();
    }
}
