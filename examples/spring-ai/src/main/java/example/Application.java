package example;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;
import roselle.hub.BundledModel;

/** A web application with a model in its own process; Actuator tells how it does. */
@SpringBootApplication
public class Application {
    /** Answers questions, whole or as a stream of events. */
    @RestController
    static class Questions {
        private final ChatClient client;

        Questions(ChatClient.Builder builder) {
            client = builder.build();
        }

        @GetMapping("/ask")
        String ask(@RequestParam String question) {
            return client.prompt(question).call().content();
        }

        @GetMapping(path = "/tell", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        Flux<String> tell(@RequestParam String question) {
            return client.prompt(question).stream().content();
        }
    }

    public static void main(String[] arguments) throws IOException {
        useTheDemoModelWhereNoneIsNamed();
        SpringApplication.run(Application.class, arguments);
    }

    /** {@code --spring.ai.roselle.model=...} on the command line names another one. */
    static void useTheDemoModelWhereNoneIsNamed() throws IOException {
        Path demo = BundledModel.DEMO.unpackInto(Files.createDirectories(Path.of("target", "models")));
        System.setProperty("example.demo", demo.toString());
    }
}
