// Spring AI against a running server, compiled with -parameters: java -cp ... SpringAiClient http://127.0.0.1:8000 [MODEL [default]]
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.converter.ListOutputConverter;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.annotation.ToolParam;
import org.springframework.core.ParameterizedTypeReference;

final class SpringAiClient {
    enum Colour {
        RED,
        GREEN
    }

    record Line(String product, int quantity, BigDecimal price) {}

    record Order(String customer, Colour colour, List<Line> lines, Set<String> tags) {}

    /** What the model calls. */
    static final class Weather {
        final List<String> asked = new ArrayList<>();

        @Tool(name = "get_weather", description = "The weather in a city now")
        String weather(@ToolParam(description = "The name of the city") String city) {
            asked.add(city);
            return "sunny, 21 degrees";
        }
    }

    private final ChatClient client;

    private SpringAiClient(String url, String model) {
        OpenAiChatOptions.Builder options = OpenAiChatOptions.builder();
        options.baseUrl(url + "/v1");
        options.apiKey("unused");
        options.model(model);
        options.temperature(0.0);
        options.maxTokens(400);
        client = ChatClient.create(OpenAiChatModel.builder().options(options.build()).build());
    }

    private static void require(boolean isTrue, Object what) {
        if (!isTrue) {
            throw new AssertionError(what);
        }
    }

    private void chats() {
        String said = client.prompt().user("Tell me a story about a fox.").call().content();
        require(said != null && !said.isBlank(), said);
    }

    private void givesEntitiesByTheServersFormat() {
        Order order = client.prompt()
                .user("Order two red apples for Ada.")
                .call()
                .entity(Order.class, how -> how.useProviderStructuredOutput());
        require(order != null && order.colour() != null && order.lines() != null, order);
    }

    private void givesListsByTheServersFormat() {
        List<Line> lines = client.prompt()
                .user("Order two red apples for Ada.")
                .call()
                .entity(new ParameterizedTypeReference<List<Line>>() {}, how -> how.useProviderStructuredOutput());
        require(lines != null, "lines");
    }

    /** As a client asks by default: in words, which a small model understands of a list. */
    private void givesListsByDefault() {
        List<String> fruits = client.prompt()
                .user("Name three fruits.")
                .options(OpenAiChatOptions.builder().maxTokens(40))
                .call()
                .entity(new ListOutputConverter());
        require(fruits != null && !fruits.isEmpty(), "fruits");
    }

    private void answersWhereToolsMayBeCalled() {
        var weather = new Weather();
        String said = client.prompt()
                .user("What is the weather in Oslo?")
                .options(OpenAiChatOptions.builder().maxTokens(40))
                .tools(weather)
                .call()
                .content();
        require(said != null && !said.isBlank(), said);
    }

    private void callsTools() {
        var weather = new Weather();
        String said = client.prompt().user("What is the weather in Oslo?").tools(weather).call().content();
        require(weather.asked.equals(List.of("Oslo")), weather.asked);
        require(said != null && !said.isBlank(), said);
    }

    private void streamsTools() {
        var weather = new Weather();
        String said = String.join(
                "",
                client.prompt().user("What is the weather in Oslo?").tools(weather).stream().content().toIterable());
        require(weather.asked.equals(List.of("Oslo")), weather.asked);
        require(!said.isBlank(), said);
    }

    public static void main(String[] args) {
        var tests = new SpringAiClient(args[0], args.length > 1 ? args[1] : "demo");
        if (args.length > 2) {
            tests.givesListsByDefault();
            System.out.println("passed givesListsByDefault");
            tests.answersWhereToolsMayBeCalled();
            System.out.println("passed answersWhereToolsMayBeCalled");
            System.exit(0);
        }
        tests.chats();
        System.out.println("passed chats");
        tests.givesEntitiesByTheServersFormat();
        System.out.println("passed givesEntitiesByTheServersFormat");
        tests.givesListsByTheServersFormat();
        System.out.println("passed givesListsByTheServersFormat");
        tests.callsTools();
        System.out.println("passed callsTools");
        tests.streamsTools();
        System.out.println("passed streamsTools");
        System.exit(0); // threads of its HTTP client wait for more
    }
}
