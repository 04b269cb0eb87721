package roselle.examples;

import java.io.PrintStream;
import java.nio.file.Path;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationRequest;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;

/** A model inside a Java program: the example of docs/guide/embedding.md. */
final class EmbeddedStory {
    private EmbeddedStory() {}

    /** Prints an answer as it is made. */
    static void tell(Path model, String question, PrintStream out) {
        try (var engine = Engine.open(EngineConfig.of(model))) {
            var request = GenerationRequest.builder()
                    .user(question)
                    .temperature(0.7)
                    .maxTokens(200)
                    .build();
            try (var generation = engine.submit(request)) {
                for (var event : generation) {
                    if (event instanceof TokenGenerated token) {
                        out.print(token.text());
                    }
                }
            }
        }
    }
}
