package roselle.spark;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;
import roselle.api.ChatMessage;
import roselle.api.GenerationRequest;
import roselle.api.GenerationRequestBuilder;
import roselle.api.InvalidRequestException;
import roselle.api.Prompt;
import roselle.api.ResponseFormat;
import roselle.api.SamplingParameters;
import roselle.api.StopConditions;
import roselle.engine.Engine;
import roselle.offline.RowKey;

/** Rows as requests of an engine: the prompt and the seed are a row's own, the rest is the query's. */
final class Requests {
    private static final int NONE = -1;

    private final Settings settings;
    private final int promptColumn;
    private final int messagesColumn;
    private final int seedColumn;
    private final int maxTokensColumn;
    private final boolean asChat;
    private final long baseSeed;
    private final GenerationRequest common;

    /** Checks everything but the rows. */
    Requests(Settings settings, StructType schema, boolean hasChatTemplate, SamplingParameters advised) {
        this.settings = settings;
        messagesColumn = settings.has(Setting.MESSAGES_COL) ? column(Setting.MESSAGES_COL, schema) : NONE;
        promptColumn = messagesColumn == NONE ? column(Setting.PROMPT_COL, schema) : NONE;
        seedColumn = settings.has(Setting.SEED_COL) ? column(Setting.SEED_COL, schema) : NONE;
        maxTokensColumn = settings.has(Setting.MAX_TOKENS_COL) ? column(Setting.MAX_TOKENS_COL, schema) : NONE;
        asChat = hasChatTemplate && !settings.flag(Setting.RAW);
        baseSeed = settings.number(Setting.SEED, Long.MIN_VALUE, Long.MAX_VALUE);
        common = common(settings, advised);
    }

    /** The same for an engine. */
    static Requests of(Settings settings, StructType schema, Engine engine) {
        return new Requests(
                settings,
                schema,
                engine.hasChatTemplate(),
                engine.advisedSampling().orElse(SamplingParameters.DEFAULT));
    }

    private int column(Setting setting, StructType schema) {
        return Columns.index(schema, settings.text(setting), setting.key());
    }

    private static GenerationRequest common(Settings settings, SamplingParameters advised) {
        GenerationRequestBuilder builder = GenerationRequest.builder().text("").sampling(advised);
        Map<Setting, java.util.function.DoubleConsumer> fractions = Map.of(
                Setting.TEMPERATURE, builder::temperature,
                Setting.TOP_P, builder::topP,
                Setting.MIN_P, builder::minP,
                Setting.REPETITION_PENALTY, builder::repetitionPenalty,
                Setting.PRESENCE_PENALTY, builder::presencePenalty,
                Setting.FREQUENCY_PENALTY, builder::frequencyPenalty);
        fractions.forEach((setting, setter) -> {
            if (settings.has(setting)) {
                setter.accept(settings.fraction(setting));
            }
        });
        if (settings.has(Setting.TOP_K)) {
            builder.topK(settings.whole(Setting.TOP_K));
        }
        if (settings.has(Setting.MAX_TOKENS)) {
            builder.maxTokens(settings.whole(Setting.MAX_TOKENS));
        }
        if (settings.has(Setting.STOP)) {
            builder.stopStrings(List.of(settings.text(Setting.STOP)));
        }
        return builder.format(format(settings)).build();
    }

    private static ResponseFormat format(Settings settings) {
        List<ResponseFormat> asked = new ArrayList<>();
        if (settings.has(Setting.SCHEMA)) {
            asked.add(new ResponseFormat.JsonSchema(JsonSchemas.of(Columns.valueType(settings))));
        }
        if (settings.has(Setting.JSON_SCHEMA)) {
            asked.add(new ResponseFormat.JsonSchema(settings.text(Setting.JSON_SCHEMA)));
        }
        if (settings.has(Setting.REGEX)) {
            asked.add(new ResponseFormat.Regex(settings.text(Setting.REGEX)));
        }
        if (asked.size() > 1) {
            throw new InvalidRequestException("an answer has one form: set one of schema, jsonSchema and regex");
        }
        return asked.isEmpty() ? ResponseFormat.TEXT : asked.getFirst();
    }

    /** What all rows ask for alike. */
    GenerationRequest common() {
        return common;
    }

    /**
     * What a row asks for.
     *
     * @throws InvalidRequestException if it has no prompt
     */
    GenerationRequest of(Row row) {
        Prompt prompt = messagesColumn == NONE ? prompt(row) : new Prompt.Chat(messages(row), List.of(), Map.of());
        SamplingParameters sampling = common.sampling();
        return GenerationRequest.builder()
                .prompt(prompt)
                .sampling(sampling)
                .seed(seed(row, prompt))
                .build()
                .with(stop(row))
                .with(common.format());
    }

    private long seed(Row row, Prompt prompt) {
        return seedColumn == NONE ? RowKey.seed(baseSeed, prompt) : number(row, seedColumn, Setting.SEED_COL);
    }

    private StopConditions stop(Row row) {
        StopConditions stop = common.stop();
        if (maxTokensColumn == NONE) {
            return stop;
        }
        int most = Math.clamp(number(row, maxTokensColumn, Setting.MAX_TOKENS_COL), 0, Integer.MAX_VALUE);
        return new StopConditions(most, stop.minTokens(), stop.stopStrings(), stop.stopTokenIds(), stop.ignoreEos());
    }

    private long number(Row row, int column, Setting setting) {
        if (row.get(column) instanceof Number number) {
            return number.longValue();
        }
        throw new InvalidRequestException("the row has no number in " + settings.text(setting));
    }

    /** Tokens that the row's answer has at most, as far as the row says. */
    int maxTokens(Row row) {
        boolean isOwn = maxTokensColumn != NONE && row.get(maxTokensColumn) instanceof Number;
        return isOwn
                ? ((Number) row.get(maxTokensColumn)).intValue()
                : common.stop().maxTokens();
    }

    private Prompt prompt(Row row) {
        if (!(row.get(promptColumn) instanceof String text)) {
            throw new InvalidRequestException("the row has no text in " + settings.text(Setting.PROMPT_COL));
        }
        if (!asChat) {
            return new Prompt.Text(settings.text(Setting.SYSTEM) + text, true, false);
        }
        List<ChatMessage> messages = new ArrayList<>();
        if (settings.has(Setting.SYSTEM)) {
            messages.add(ChatMessage.system(settings.text(Setting.SYSTEM)));
        }
        messages.add(ChatMessage.user(text));
        return new Prompt.Chat(messages, List.of(), Map.of());
    }

    private List<ChatMessage> messages(Row row) {
        if (row.isNullAt(messagesColumn)) {
            throw new InvalidRequestException("the row has no messages in " + settings.text(Setting.MESSAGES_COL));
        }
        List<ChatMessage> messages = new ArrayList<>();
        for (Row message : row.<Row>getList(messagesColumn)) {
            Map<String, Object> fields = fields(message);
            if (!(fields.get("role") instanceof String role)) {
                throw new InvalidRequestException("a message of the row has no role");
            }
            messages.add(new ChatMessage(role, fields));
        }
        return messages;
    }

    private static Map<String, Object> fields(Row row) {
        Map<String, Object> fields = new LinkedHashMap<>();
        for (String name : row.schema().fieldNames()) {
            @Nullable Object value = row.getAs(name);
            if (value != null) {
                fields.put(name, plain(value));
            }
        }
        return fields;
    }

    private static Object plain(Object value) {
        return switch (value) {
            case Row row -> fields(row);
            case scala.collection.Seq<?> list ->
                scala.jdk.javaapi.CollectionConverters.asJava(list).stream()
                        .map(Requests::plain)
                        .toList();
            default -> value;
        };
    }
}
