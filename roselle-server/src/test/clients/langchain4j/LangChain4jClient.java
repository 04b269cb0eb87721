// LangChain4j's AI services against a running server, compiled with -parameters: java -cp ... LangChain4jClient http://127.0.0.1:8000 [MODEL [default]]
import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.model.chat.Capability;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.TokenStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

final class LangChain4jClient {
    enum Colour {
        RED,
        GREEN
    }

    record Line(String product, int quantity) {}

    record Order(String customer, Colour colour, List<Line> lines, Set<String> tags) {}

    /** Answers of types, as services give them. */
    interface Extractor {
        Order order(String text);

        Colour colour(String text);

        boolean isOrder(String text);

        List<Line> lines(String text);

        Set<String> names(String text);
    }

    interface Assistant {
        String chat(String text);
    }

    interface StreamingAssistant {
        TokenStream chat(String text);
    }

    /** What the model calls. */
    static final class Weather {
        final List<String> asked = new ArrayList<>();

        @Tool(name = "get_weather", value = "The weather in a city now")
        String weather(@P("The name of the city") String city) {
            asked.add(city);
            return "sunny, 21 degrees";
        }
    }

    private static final String ASKED = "Order two red apples for Ada.";
    private static final String QUESTION = "What is the weather in Oslo?";

    private final String url;
    private final String name;

    private LangChain4jClient(String url, String name) {
        this.url = url + "/v1";
        this.name = name;
    }

    private OpenAiChatModel.OpenAiChatModelBuilder model() {
        return OpenAiChatModel.builder()
                .baseUrl(url)
                .apiKey("unused")
                .modelName(name)
                .temperature(0.0)
                .maxCompletionTokens(400)
                .timeout(Duration.ofMinutes(5)) // a machine may do other things, too
                .maxRetries(0);
    }

    private static void require(boolean isTrue, Object what) {
        if (!isTrue) {
            throw new AssertionError(what);
        }
    }

    /** With strict schemas, which have all properties and no others. */
    private void givesTypes() {
        var model = model().supportedCapabilities(Capability.RESPONSE_FORMAT_JSON_SCHEMA)
                .strictJsonSchema(true)
                .build();
        Extractor extractor = AiServices.create(Extractor.class, model);
        Order order = extractor.order(ASKED);
        require(order.colour() != null, order); // all else may be null, the schema says
        require(extractor.colour(ASKED) != null, "colour");
        extractor.isOrder(ASKED);
        require(extractor.lines(ASKED) instanceof List<Line>, "lines");
        require(extractor.names(ASKED) instanceof Set<String>, "names");
    }

    /** As services ask where nothing is said of what the model can do: in words, which a small model understands of a choice. */
    private void choosesByDefault() {
        Extractor extractor = AiServices.create(Extractor.class, model().build());
        require(extractor.colour(ASKED) != null, "colour");
    }

    private void answersWhereToolsMayBeCalled() {
        var weather = new Weather();
        Assistant assistant = AiServices.builder(Assistant.class)
                .chatModel(model().maxCompletionTokens(40).build())
                .tools(weather)
                .build();
        String said = assistant.chat(QUESTION);
        require(!said.isBlank(), said);
    }

    private void callsTools(boolean isStrict) {
        var weather = new Weather();
        Assistant assistant = AiServices.builder(Assistant.class)
                .chatModel(model().strictTools(isStrict).build())
                .tools(weather)
                .build();
        String said = assistant.chat(QUESTION);
        require(weather.asked.equals(List.of("Oslo")), weather.asked);
        require(!said.isBlank(), said);
    }

    private void streamsTools() throws Exception {
        var weather = new Weather();
        var model = OpenAiStreamingChatModel.builder()
                .baseUrl(url)
                .apiKey("unused")
                .modelName(name)
                .temperature(0.0)
                .build();
        StreamingAssistant assistant = AiServices.builder(StreamingAssistant.class)
                .streamingChatModel(model)
                .tools(weather)
                .build();
        var said = new CompletableFuture<Optional<String>>();
        assistant
                .chat(QUESTION)
                .onPartialResponse(_ -> {})
                .onCompleteResponse(answer -> said.complete(Optional.ofNullable(answer.aiMessage().text())))
                .onError(said::completeExceptionally)
                .start();
        require(!said.get(300, TimeUnit.SECONDS).orElse("").isBlank(), "nothing was said");
        require(weather.asked.equals(List.of("Oslo")), weather.asked);
    }

    public static void main(String[] args) throws Exception {
        var tests = new LangChain4jClient(args[0], args.length > 1 ? args[1] : "demo");
        if (args.length > 2) {
            tests.choosesByDefault();
            System.out.println("passed choosesByDefault");
            tests.answersWhereToolsMayBeCalled();
            System.out.println("passed answersWhereToolsMayBeCalled");
            System.exit(0);
        }
        tests.givesTypes();
        System.out.println("passed givesTypes");
        tests.callsTools(false);
        System.out.println("passed callsTools");
        tests.callsTools(true);
        System.out.println("passed callsTools, strict");
        tests.streamsTools();
        System.out.println("passed streamsTools");
        System.exit(0); // threads of its HTTP client wait for more
    }
}
