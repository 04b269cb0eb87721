// ollama4j against a running server: java -cp ... OllamaClient http://127.0.0.1:8000
import io.github.ollama4j.Ollama;
import io.github.ollama4j.exceptions.OllamaException;
import io.github.ollama4j.models.chat.OllamaChatMessageRole;
import io.github.ollama4j.models.chat.OllamaChatRequest;
import io.github.ollama4j.models.chat.OllamaChatResult;
import io.github.ollama4j.models.chat.OllamaChatStreamObserver;
import io.github.ollama4j.models.generate.OllamaGenerateRequest;
import io.github.ollama4j.models.generate.OllamaGenerateStreamObserver;
import io.github.ollama4j.models.request.ThinkMode;
import io.github.ollama4j.models.response.OllamaResult;
import io.github.ollama4j.tools.annotations.ToolProperty;
import io.github.ollama4j.tools.annotations.ToolSpec;
import io.github.ollama4j.utils.Options;
import io.github.ollama4j.utils.OptionsBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

public final class OllamaClient {
    private static final String STORY = "Tell me a story about a fox.";

    /** What the model calls. */
    public static final class Weather {
        final List<String> asked = new ArrayList<>();

        @ToolSpec(name = "get_weather", desc = "The weather in a city now")
        public String weather(@ToolProperty(name = "city", desc = "The name of the city") String city) {
            asked.add(city);
            return "sunny, 21 degrees";
        }
    }

    private final String url;

    private OllamaClient(String url) {
        this.url = url;
    }

    private Ollama client() {
        var client = new Ollama(url);
        client.setRequestTimeoutSeconds(120);
        return client;
    }

    private static void require(boolean isTrue, Object what) {
        if (!isTrue) {
            throw new AssertionError(what);
        }
    }

    private static Options atMost(int tokens) {
        return new OptionsBuilder().setTemperature(0).setNumPredict(tokens).build();
    }

    private static OllamaChatRequest chat(String text, int tokens) {
        return OllamaChatRequest.builder()
                .withModel("demo")
                .withMessage(OllamaChatMessageRole.USER, text)
                .withOptions(atMost(tokens))
                .build();
    }

    private void models() throws OllamaException {
        require(client().ping(), "ping");
        require(client().listModels().getFirst().getName().equals("demo:latest"), "models");
        require(client().ps().getModels().getFirst().getModel().equals("demo:latest"), "ps");
        require(!client().getVersion().isBlank(), "version");
        require(client().getModelDetails("demo").getDetails() != null, "details");
        client().pullModel("demo");
    }

    private void chatAndStreamingAgree() throws OllamaException {
        OllamaChatResult whole = client().chat(chat(STORY, 16), null);
        require(whole.getResponseModel().getEvalCount() == 16, whole);
        var streamed = new StringBuilder();
        client().chat(chat(STORY, 16), new OllamaChatStreamObserver(_ -> {}, streamed::append));
        String said = whole.getResponseModel().getMessage().getResponse();
        require(streamed.toString().equals(said), streamed);
    }

    private void generates() throws OllamaException {
        OllamaGenerateRequest request = OllamaGenerateRequest.builder()
                .withModel("demo")
                .withPrompt(STORY)
                .withThink(ThinkMode.DISABLED) // without it the client throws
                .withOptions(atMost(16))
                .build();
        OllamaResult whole = client().generate(request, null);
        require(whole.getEvalCount() == 16 && "length".equals(whole.getDoneReason()), whole);
        var streamed = new StringBuilder();
        client().generate(request, new OllamaGenerateStreamObserver(_ -> {}, streamed::append));
        require(streamed.toString().equals(whole.getResponse()), streamed);
    }

    private void givesTheFormat() throws OllamaException {
        Map<String, Object> schema = Map.of(
                "type", "object",
                "properties", Map.of("legs", Map.of("type", "integer")),
                "required", List.of("legs"),
                "additionalProperties", false);
        OllamaGenerateRequest request = OllamaGenerateRequest.builder()
                .withModel("demo")
                .withPrompt(STORY)
                .withFormat(schema)
                .withThink(ThinkMode.DISABLED) // without it the client throws
                .withOptions(atMost(60))
                .build();
        require(client().generate(request, null).getStructuredResponse().get("legs") instanceof Integer, "legs");
    }

    private void thinks() throws OllamaException {
        OllamaChatResult answer = client().chat(chat("What is 12 + 30?", 100).withThinking(ThinkMode.ENABLED), null);
        var message = answer.getResponseModel().getMessage();
        require(!message.getThinking().isBlank() && message.getResponse().contains("42"), message);
    }

    private void callsTools() throws OllamaException {
        var client = client();
        var weather = new Weather();
        client.registerAnnotatedTools(weather);
        var request = chat("What is the weather in Oslo?", 60).withUseTools(true);
        OllamaChatResult answer = client.chat(request, null);
        require(weather.asked.equals(List.of("Oslo")), weather.asked);
        require(!answer.getResponseModel().getMessage().getResponse().isBlank(), answer);
    }

    private void tellsErrors() {
        try {
            client().chat(chat(STORY, 2).withModel("other"), null);
            throw new AssertionError("another model answered");
        } catch (OllamaException expected) {
            require(expected.toString().contains("no model other"), expected);
        }
    }

    public static void main(String[] args) throws OllamaException {
        var tests = new OllamaClient(args[0]);
        tests.models();
        tests.chatAndStreamingAgree();
        tests.generates();
        tests.givesTheFormat();
        tests.thinks();
        tests.callsTools();
        tests.tellsErrors();
        System.out.println("passed tellsErrors");
        System.exit(0); // threads of its HTTP client wait for more
    }
}
