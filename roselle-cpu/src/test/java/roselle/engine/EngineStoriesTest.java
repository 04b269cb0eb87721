package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationRequest;
import roselle.testing.SharedData;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Tag("shared-data")
class EngineStoriesTest {
    @Test
    void tellsTheStoriesThatTheReferenceTells() throws IOException {
        var expected = JsonMapper.shared().readTree(Files.readString(SharedData.path("stories260k/expected.json")));
        try (var engine = Engine.open(TestConfig.of(SharedData.path("stories260k/stories260K.gguf")))) {
            for (JsonNode story : expected) {
                List<Integer> ids = new ArrayList<>();
                story.get("greedy_ids").forEach(id -> ids.add(id.intValue()));
                var request = GenerationRequest.builder()
                        .text(story.get("prompt").stringValue())
                        .temperature(0)
                        .ignoreEos(true)
                        .maxTokens(ids.size())
                        .build();
                var told = new ArrayList<Integer>();
                var text = new StringBuilder();
                try (var generation = engine.submit(request)) {
                    for (GenerationEvent event : generation) {
                        switch (event) {
                            case TokenGenerated token -> {
                                told.add(token.id());
                                text.append(token.text());
                            }
                            case ChoiceEnded end -> text.append(end.text());
                            default -> {}
                        }
                    }
                }
                assertThat(told).isEqualTo(ids);
                assertThat(text).hasToString(story.get("text").stringValue());
            }
        }
    }
}
