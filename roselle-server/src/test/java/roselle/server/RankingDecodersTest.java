package roselle.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.tensor.Dequantizer;
import tools.jackson.databind.JsonNode;

/** Decoders that rank over HTTP: texts go into the model's prompt, with what the ranking is for. */
final class RankingDecodersTest {
    @Test
    void rankAndScoreAsTheReference() throws IOException {
        var folder = EncoderServer.MODELS.resolve("qwen3-reranker");
        JsonNode texts = DemoServer.json(Files.readString(folder.resolve("texts.json")));
        String query = texts.at("/2/texts/0").toString();
        String document = texts.at("/2/texts/1").toString();
        String asked = "{\"instruction\":" + texts.at("/2/instruction") + ",";
        double expected;
        try (Checkpoint reference = Checkpoints.open(folder.resolve("expected.safetensors"))) {
            expected = 1 / (1 + Math.exp(-Dequantizer.all(reference.tensor("logits_2"))[0]));
        }
        try (var server = new EncoderServer("qwen3-reranker")) {
            JsonNode ranked = server.ask(
                    "/v1/rerank", asked + "\"query\":" + query + ",\"documents\":[" + document + ",\"a boat\"]}");
            double score = ranked.at("/results")
                    .valueStream()
                    .filter(each -> each.path("index").intValue() == 0)
                    .findFirst()
                    .orElseThrow()
                    .path("relevance_score")
                    .doubleValue();
            assertThat(score).isCloseTo(expected, within(1e-5));
            JsonNode scored = server.ask("/score", asked + "\"text_1\":" + query + ",\"text_2\":" + document + "}");
            assertThat(scored.at("/data/0/score").doubleValue()).isCloseTo(expected, within(1e-5));
        }
    }

    @Test
    void crossEncodersTakeNoInstruction() {
        try (var server = new EncoderServer("bert-cross")) {
            HttpResponse<String> refused =
                    server.post("/rerank", "{\"instruction\":\"a\",\"query\":\"a\",\"documents\":[\"b\"]}");
            assertThat(refused.statusCode()).isEqualTo(400);
            assertThat(refused.body())
                    .contains("an instruction is given, but the model takes a query and a text alone");
        }
    }
}
