package roselle.examples;

import java.io.PrintStream;
import java.util.Map;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.PromptScored;
import roselle.api.GenerationEvent.Reasoning;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationEvent.ToolCall;
import roselle.api.GenerationEvent.ToolCallDelta;
import roselle.api.GenerationEvent.ToolCallStarted;
import roselle.api.GenerationRequest;
import roselle.engine.Engine;

/** Thoughts and calls of tools in a Java program: the second example of docs/guide/embedding.md. */
final class EmbeddedAssistant {
    private EmbeddedAssistant() {}

    /** Prints what the model thinks, calls and says, each in its own way. */
    static void answer(Engine engine, String question, Map<String, Object> tool, PrintStream out) {
        var request = GenerationRequest.builder()
                .user(question)
                .tool(tool)
                .temperature(0)
                .maxTokens(200)
                .build();
        try (var generation = engine.submit(request)) {
            for (var event : generation) {
                switch (event) {
                    case Reasoning thought -> out.print("(" + thought.text() + ")");
                    case ToolCall call -> out.println(call.name() + " <- " + call.arguments());
                    case TokenGenerated token -> out.print(token.text());
                    case ChoiceEnded end -> out.println(end.text());
                    case Failed failed -> throw failed.exception();
                    case PromptScored _, ToolCallStarted _, ToolCallDelta _, Finished _ -> {}
                }
            }
        }
    }
}
