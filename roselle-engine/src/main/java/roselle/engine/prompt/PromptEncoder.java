package roselle.engine.prompt;

import java.time.Clock;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;
import roselle.api.Prompt;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.jinja.ChatTemplate;
import roselle.structured.Tools;
import roselle.tokenizer.EncodeOptions;
import roselle.tokenizer.EncodeProgress;
import roselle.tokenizer.SpecialSpellings;
import roselle.tokenizer.Tokenizer;
import roselle.work.LongWork;

/**
 * Turns any prompt into token ids; thread-safe, and called by the threads that submit.
 *
 * <p>What cannot fit is refused as early as can be known: by the bytes of a text before it is encoded, and by the ids so far while it
 * is. Long texts are encoded on threads of their own, {@link LongWork}.
 *
 * <p>Special tokens that a chat template writes are parsed; those that a message spells are plain text, because each such
 * spelling in a message is broken by {@link SpecialSpellings} before it is rendered.
 */
public final class PromptEncoder {
    /** No limit to the ids. */
    public static final int ANY = Integer.MAX_VALUE;

    /** Characters that are encoded on the caller's thread: some milliseconds at most. */
    private static final int SHORT = 32 << 10;

    private static final String BEGIN = "bos_token";

    private final Tokenizer tokenizer;
    private final ChatForms forms;
    private final Map<String, Object> modelVariables;
    private final SpecialSpellings specialSpellings;
    private final Clock clock;
    private final LongWork longWork;

    public PromptEncoder(Checkpoint checkpoint, Tokenizer tokenizer, ChatForms forms, Clock clock, LongWork longWork) {
        this.tokenizer = tokenizer;
        this.forms = forms;
        this.longWork = longWork;
        this.clock = clock;
        modelVariables =
                Map.of(BEGIN, spelling(checkpoint, "bos_token_id"), "eos_token", spelling(checkpoint, "eos_token_id"));
        specialSpellings = new SpecialSpellings(tokenizer);
    }

    private String spelling(Checkpoint checkpoint, String key) {
        Metadata config = checkpoint.config();
        String name = checkpoint.format() == Checkpoint.Format.GGUF ? "tokenizer.ggml." + key : key;
        if (!config.has(name)) { // a decoder that is wrapped beside an encoder of pictures has its own
            config = config.object("text_config").orElse(config);
        }
        if (!config.has(name)) {
            return "";
        }
        int[] ids = config.integers(name); // a list where several end an answer, which may be empty
        return ids.length == 0 || !tokenizer.hasToken(ids[0]) ? "" : tokenizer.spellingOf(ids[0]);
    }

    /**
     * The ids of a key's prompt.
     *
     * @param room a prompt needs fewer ids than this
     */
    public int[] encode(Prompt prompt, String key, int room) {
        if (prompt instanceof Prompt.Tokens tokens) {
            return checked(tokens, room);
        }
        if (prompt instanceof Prompt.Text text) {
            requireRoom(text.text(), room);
        }
        long characters = characters(prompt);
        if (characters <= SHORT) {
            return encode(prompt, room, _ -> {});
        }
        return longWork.run(key, characters, job -> encode(prompt, room, job::advance));
    }

    private int[] encode(Prompt prompt, int room, IntConsumer advance) {
        EncodeProgress progress = (characters, ids) -> {
            if (ids >= room) {
                throw tooLong("more than " + (room - 1), room);
            }
            advance.accept(characters);
        };
        return switch (prompt) {
            case Prompt.Text text ->
                tokenizer.encode(text.text(), new EncodeOptions(text.addSpecial(), text.parseSpecial()), progress);
            case Prompt.Tokens tokens -> checked(tokens, room);
            case Prompt.Chat chat -> {
                String rendered = render(chat);
                requireRoom(rendered, room);
                yield tokenizer.encode(
                        rendered, new EncodeOptions(lacksBeginning(chat, rendered), true, true), progress);
            }
        };
    }

    /** How the token is spelled with which a text begins; empty where there is none. */
    public String beginToken() {
        return String.valueOf(modelVariables.get(BEGIN));
    }

    /** Whether the tokenizer is to add what the template did not write, and leaves to it. */
    private boolean lacksBeginning(Prompt.Chat chat, String rendered) {
        String begin = beginToken();
        boolean leavesIt = forms.of(chat)
                .template()
                .filter(template -> !template.writesBeginning())
                .isPresent();
        return leavesIt && (begin.isEmpty() || !rendered.startsWith(begin));
    }

    /** Characters that are to be encoded. */
    private static long characters(Prompt prompt) {
        return switch (prompt) {
            case Prompt.Text text -> text.text().length();
            case Prompt.Tokens _ -> 0;
            case Prompt.Chat chat -> {
                long characters = characters(chat.tools()) + characters(chat.variables());
                for (var message : chat.messages()) {
                    characters += characters(message.fields());
                }
                yield characters;
            }
        };
    }

    private static long characters(@Nullable Object value) {
        long sum = 1;
        switch (value) {
            case String text -> sum += text.length();
            case List<?> list -> {
                for (Object each : list) {
                    sum += characters(each);
                }
            }
            case Map<?, ?> map -> {
                for (var entry : map.entrySet()) {
                    sum += characters(entry.getKey()) + characters(entry.getValue());
                }
            }
            case null, default -> {}
        }
        return sum;
    }

    /** Refuses a text whose bytes are more than the longest tokens can stand for. */
    private void requireRoom(String text, int room) {
        long least = tokenizer.leastIds(bytes(text));
        if (least >= room) {
            throw tooLong("at least " + least, room);
        }
    }

    /** Bytes of UTF-8, no more than there are: guards are dropped, and lone surrogates become longer. */
    private static long bytes(String text) {
        long bytes = 0;
        for (int at = 0; at < text.length(); at++) {
            char letter = text.charAt(at);
            boolean isLong = letter >= 0x800 && !Character.isSurrogate(letter);
            bytes += letter == EncodeOptions.GUARD ? 0 : letter < 0x80 ? 1 : isLong ? 3 : 2;
        }
        return bytes;
    }

    private static InvalidRequestException tooLong(String tokens, int room) {
        return new InvalidRequestException(
                Reason.CONTEXT_LENGTH,
                "",
                "the prompt has " + tokens + " tokens, but the context holds " + room
                        + " with at least one generated: shorten it");
    }

    private int[] checked(Prompt.Tokens tokens, int room) {
        if (tokens.ids().size() >= room) {
            throw tooLong(Integer.toString(tokens.ids().size()), room);
        }
        int[] ids = tokens.ids().stream().mapToInt(Integer::intValue).toArray();
        for (int id : ids) {
            if (!tokenizer.hasToken(id)) {
                throw new InvalidRequestException(
                        Reason.OUT_OF_RANGE,
                        "",
                        "the prompt has token id " + id
                                + ", which is no token of the model's: they are among 0 to "
                                + (tokenizer.vocabularySize() - 1));
            }
        }
        return ids;
    }

    /** The conversation as one text, with guarded special tokens in what the messages say. */
    String render(Prompt.Chat chat) {
        ChatTemplate compiled = forms.of(chat)
                .template()
                .orElseThrow(() -> new InvalidRequestException(
                        Reason.UNSUPPORTED,
                        "",
                        "the model has no chat template: send a text prompt instead of messages"));
        Map<String, Object> variables = new HashMap<>(modelVariables);
        variables.put("add_generation_prompt", true);
        variables.putAll(guarded(chat.variables()));
        variables.put(
                "messages",
                chat.messages().stream()
                        .map(message -> guarded(message.fields()))
                        .toList());
        if (!chat.callable().isEmpty()) {
            variables.put(
                    "tools", guarded(chat.callable().stream().map(Tools::told).toList()));
        }
        String rendered = compiled.render(variables, LocalDateTime.now(clock));
        return Boolean.TRUE.equals(variables.get(Prompt.Chat.CONTINUE)) ? upToLastMessage(rendered, chat) : rendered;
    }

    /** The text without what the template writes after the last message, so that the answer goes on with it. */
    private String upToLastMessage(String rendered, Prompt.Chat chat) {
        Object content = chat.messages().getLast().fields().get("content");
        String last =
                content instanceof String text ? specialSpellings.guard(text).strip() : "";
        int begin = last.isEmpty() ? -1 : rendered.lastIndexOf(last);
        if (begin < 0) {
            throw new InvalidRequestException(
                    Reason.UNSUPPORTED,
                    Prompt.Chat.CONTINUE,
                    Prompt.Chat.CONTINUE
                            + " is set, but the chat template does not write the last message's text as it is");
        }
        return rendered.substring(0, begin + last.length());
    }

    private @Nullable Object guarded(@Nullable Object value) {
        return switch (value) {
            case null -> null; // JSON's, in the schema of a tool
            case String text -> specialSpellings.guard(text);
            case List<?> list -> guarded(list);
            case Map<?, ?> map -> guarded(map);
            default -> value;
        };
    }

    private List<@Nullable Object> guarded(List<?> list) {
        var copy = new ArrayList<@Nullable Object>(list.size());
        list.forEach(each -> copy.add(guarded(each)));
        return copy;
    }

    private Map<String, @Nullable Object> guarded(Map<?, ?> map) {
        var copy = new LinkedHashMap<String, @Nullable Object>();
        map.forEach((name, each) -> copy.put(specialSpellings.guard(String.valueOf(name)), guarded(each)));
        return copy;
    }
}
