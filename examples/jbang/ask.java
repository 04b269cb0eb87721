///usr/bin/env jbang "$0" "$@" ; exit $?
//JAVA 25+
//DEPS io.github.roselle:roselle:0.2.0
//RUNTIME_OPTIONS --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationRequest;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.hub.BundledModel;

/** Asks a model, the demo model unless {@code --model FILE} names another, and prints its answer as it is made. */
class ask {
    private static final Path CACHE = Path.of(System.getProperty("user.home"), ".cache", "roselle");

    static void main(String[] arguments) throws IOException {
        List<String> words = List.of(arguments);
        boolean isNamed = words.size() > 1 && words.getFirst().equals("--model");
        Path model = isNamed ? Path.of(words.get(1)) : BundledModel.DEMO.unpackInto(CACHE);
        String prompt = String.join(" ", isNamed ? words.subList(2, words.size()) : words);
        if (prompt.isEmpty()) {
            System.err.println("Usage: ask [--model FILE] PROMPT");
            System.exit(2);
        }
        try (var engine = Engine.open(EngineConfig.of(model));
                var answer = engine.submit(GenerationRequest.builder().user(prompt).build())) {
            for (var event : answer) {
                switch (event) {
                    case TokenGenerated token -> IO.print(token.text());
                    case Failed failed -> throw failed.exception();
                    default -> {}
                }
            }
            IO.println();
        }
    }
}
