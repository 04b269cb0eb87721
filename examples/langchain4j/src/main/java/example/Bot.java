package example;

import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.SystemMessage;
import dev.langchain4j.service.TokenStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import roselle.hub.BundledModel;
import roselle.langchain4j.RoselleChatModel;

/** An AI service over a model in this process: it answers whole and in pieces, and remembers what was said. */
public final class Bot {
    /** What the service can be asked. */
    interface Assistant {
        @SystemMessage("Be brief.")
        String ask(String question);

        TokenStream tell(String wish);
    }

    private Bot() {}

    public static void main(String[] arguments) throws IOException {
        Path file = arguments.length > 0
                ? Path.of(arguments[0])
                : BundledModel.DEMO.unpackInto(Files.createDirectories(Path.of("target", "models")));
        try (var model = RoselleChatModel.builder().model(file).temperature(0.0).build()) {
            Assistant assistant = AiServices.builder(Assistant.class)
                    .chatModel(model)
                    .streamingChatModel(model.streaming())
                    .chatMemory(MessageWindowChatMemory.withMaxMessages(10))
                    .build();
            System.out.println(assistant.ask("What is 12 + 30?"));
            var told = new CompletableFuture<Void>();
            assistant
                    .tell("Tell me a story about a fox.")
                    .onPartialResponse(System.out::print)
                    .onCompleteResponse(response -> told.complete(null))
                    .onError(told::completeExceptionally)
                    .start();
            told.join();
            System.out.println();
        }
    }
}
