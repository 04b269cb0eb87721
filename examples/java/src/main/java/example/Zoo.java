package example;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationRequest;
import roselle.api.type.Length;
import roselle.api.type.Range;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.hub.BundledModel;

/** Tells a story token by token, then has the model answer with a value of a Java type. */
public final class Zoo {
    enum Food {
        FISH,
        GRASS,
        EVERYTHING
    }

    record Animal(@Length(min = 1, max = 12) String name, @Range(min = 0, max = 8) int legs, Food food) {}

    private Zoo() {}

    public static void main(String[] arguments) throws IOException {
        try (var engine = Engine.open(EngineConfig.of(model(arguments)))) {
            tellAStory(engine);
            System.out.println(describe(engine));
        }
    }

    /** The file that the command line names, else the demo model, which the library brings. */
    static Path model(String[] arguments) throws IOException {
        return arguments.length > 0
                ? Path.of(arguments[0])
                : BundledModel.DEMO.unpackInto(Files.createDirectories(Path.of("target", "models")));
    }

    static void tellAStory(Engine engine) {
        var request = GenerationRequest.builder().user("Tell me a story about a fox.").maxTokens(60).build();
        try (var generation = engine.submit(request)) {
            for (var event : generation) {
                if (event instanceof TokenGenerated token) {
                    System.out.print(token.text());
                }
            }
        }
        System.out.println();
    }

    static Animal describe(Engine engine) {
        var request = GenerationRequest.builder().user("Who was the fox?").temperature(0).build();
        return engine.submit(request, Animal.class).value();
    }
}
