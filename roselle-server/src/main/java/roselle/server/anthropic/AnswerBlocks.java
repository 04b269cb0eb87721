package roselle.server.anthropic;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import roselle.api.FinishReason;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.PromptScored;
import roselle.api.GenerationEvent.Reasoning;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationEvent.ToolCall;
import roselle.api.GenerationEvent.ToolCallDelta;
import roselle.api.GenerationEvent.ToolCallStarted;
import roselle.api.Usage;
import roselle.server.http.JsonWriter;
import roselle.server.prompt.CallArguments;

/** What a model thinks, says and calls, as blocks one after the other, while it does. */
final class AnswerBlocks {
    private final Watcher watcher;
    private final int maxTokens;
    private final List<Block> blocks = new ArrayList<>();
    private @Nullable Block open;
    private FinishReason reason = FinishReason.CANCELLED;
    private String match = "";
    private Usage usage = new Usage(0, 0, 0, 0, 0, 0, 0);

    /** The blocks of an answer that may have {@code maxTokens}. */
    AnswerBlocks(int maxTokens, Watcher watcher) {
        this.maxTokens = maxTokens;
        this.watcher = watcher;
    }

    /** Hears of blocks as they begin, grow and end. */
    interface Watcher {
        /** Hears nothing. */
        Watcher NONE = new Watcher() {
            @Override
            public void opened(int index, Block block) {}

            @Override
            public void grown(int index, Block block, String piece) {}

            @Override
            public void closed(int index, Block block) {}
        };

        void opened(int index, Block block);

        void grown(int index, Block block, String piece);

        void closed(int index, Block block);
    }

    /** One block. */
    sealed interface Block {
        /** What it has so far. */
        StringBuilder content();

        /** The block with what is said to be in it. */
        void write(JsonWriter json, String content);
    }

    record Text(StringBuilder content) implements Block {
        @Override
        public void write(JsonWriter json, String said) {
            json.object()
                    .field("type", "text")
                    .field("text", said)
                    .nullField("citations")
                    .endObject();
        }
    }

    record Thoughts(StringBuilder content) implements Block {
        @Override
        public void write(JsonWriter json, String thought) {
            json.object().field("type", "thinking").field("thinking", thought);
            json.field("signature", thought.isEmpty() ? "" : signature(thought)).endObject();
        }
    }

    record Call(StringBuilder content, String id, String name) implements Block {
        @Override
        public void write(JsonWriter json, String arguments) {
            json.object().field("type", "tool_use").field("id", id).field("name", name);
            CallArguments.write(json.name("input"), arguments);
            json.endObject();
        }
    }

    /** What thoughts are signed with: a digest, by which a block that was changed on its way back is found. */
    static String signature(String thoughts) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(thoughts.getBytes(StandardCharsets.UTF_8));
            return Base64.getEncoder().encodeToString(digest);
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException(missing); // every JDK has it
        }
    }

    void add(GenerationEvent event) {
        switch (event) {
            case Reasoning thought -> {
                if (!(open instanceof Thoughts)) {
                    begin(new Thoughts(new StringBuilder()));
                }
                grow(thought.text());
            }
            case ToolCallStarted call -> begin(new Call(new StringBuilder(), call.id(), call.name()));
            case ToolCallDelta delta -> grow(delta.arguments());
            case TokenGenerated token -> say(token.text());
            case ChoiceEnded end -> {
                say(end.text());
                close();
                reason = end.reason();
                match = end.match();
            }
            case Finished finished -> usage = finished.usage();
            case ToolCall _ -> {} // its deltas have told it
            case PromptScored _, Failed _ -> {} // neither asked for nor handed out
        }
    }

    private void say(String text) {
        if (text.isEmpty()) {
            return;
        }
        if (!(open instanceof Text)) {
            begin(new Text(new StringBuilder()));
        }
        grow(text);
    }

    private void begin(Block block) {
        close();
        open = block;
        blocks.add(block);
        watcher.opened(blocks.size() - 1, block);
    }

    private void grow(String piece) {
        Block block = open;
        if (block != null) {
            block.content().append(piece);
            watcher.grown(blocks.size() - 1, block, piece);
        }
    }

    private void close() {
        Block block = open;
        if (block != null) {
            open = null;
            watcher.closed(blocks.size() - 1, block);
        }
    }

    /** The array of all blocks. */
    void write(JsonWriter json) {
        json.array();
        blocks.forEach(block -> block.write(json, block.content().toString()));
        json.endArray();
    }

    /** Why the answer ended, and at which of the caller's texts. */
    void writeEnd(JsonWriter json) {
        Optional<String> stop = Optional.of(match).filter(text -> !text.isEmpty());
        json.field("stop_reason", stopReason(stop.isPresent()));
        json.fieldOrNull("stop_sequence", stop.orElse(""));
    }

    private String stopReason(boolean isAtStop) {
        return switch (reason) {
            case LENGTH -> usage.completionTokens() >= maxTokens ? "max_tokens" : "model_context_window_exceeded";
            case STOP, CANCELLED ->
                isAtStop ? "stop_sequence" : blocks.stream().anyMatch(Call.class::isInstance) ? "tool_use" : "end_turn";
        };
    }

    /** What the answer took; tokens of the prompt that came from the cache are counted apart, as Anthropic's API does. */
    void writeUsage(JsonWriter json) {
        json.object()
                .field("input_tokens", usage.promptTokens() - usage.cachedTokens())
                .field("cache_creation_input_tokens", 0)
                .field("cache_read_input_tokens", usage.cachedTokens())
                .field("output_tokens", usage.completionTokens())
                .object("output_tokens_details")
                .field("thinking_tokens", usage.reasoningTokens())
                .endObject()
                .endObject();
    }
}
