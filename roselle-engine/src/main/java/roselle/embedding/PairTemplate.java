package roselle.embedding;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import roselle.api.CheckpointException;
import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;
import roselle.checkpoint.Checkpoint;
import roselle.jinja.ChatTemplate;

/**
 * How a decoder that ranks is told a query and a document: in one prompt, which may say what the ranking is for.
 *
 * @param plain the prompt without an instruction of the caller's, with {@link #QUERY} and {@link #DOCUMENT} in their places
 * @param instructed the same with {@link #INSTRUCTION} in its place; null where the prompt has none
 */
record PairTemplate(String plain, @Nullable String instructed) {
    static final char QUERY = '\uFDD1'; // noncharacters: no template has them
    static final char DOCUMENT = '\uFDD2';
    static final char INSTRUCTION = '\uFDD3';

    /** What Qwen3-Reranker is told where nobody says anything else. */
    private static final String USUAL = "Given a web search query, retrieve relevant passages that answer the query";

    /** The prompt of Qwen3-Reranker (Zhang et al., 2025), in the form in which a GGUF has it. */
    private static final String QWEN3 =
            "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct provided. Note that the answer can only be \"yes\" or \"no\".<|im_end|>\n"
                    + "<|im_start|>user\n<Instruct>: " + USUAL
                    + "\n<Query>: {query}\n<Document>: {document}<|im_end|>\n"
                    + "<|im_start|>assistant\n<think>\n\n</think>\n\n";

    private static final String NAME = "qwen3-reranker";
    private static final int CARD_BYTES = 1 << 14;

    /** What begins a prompt, stands between the texts, and ends it. */
    record Parts(String before, String between, String behind) {}

    /** The one that a checkpoint has: a chat's template with these roles, a GGUF's of that name, or Qwen3-Reranker's. */
    static Optional<PairTemplate> of(Checkpoint checkpoint) {
        Optional<String> stored = checkpoint.chatTemplate("rerank");
        if (checkpoint.format() == Checkpoint.Format.GGUF) {
            return stored.map(PairTemplate::ofBraces);
        }
        Optional<String> chat = checkpoint.chatTemplate();
        if (chat.isPresent() && chat.get().contains("query") && chat.get().contains("document")) {
            return Optional.of(ofRoles(checkpoint.source() + ": chat template", chat.get()));
        }
        return isQwen3Reranker(checkpoint) ? Optional.of(ofBraces(QWEN3)) : Optional.empty();
    }

    /** Whether a checkpoint is Qwen3-Reranker as first published, which a name alone tells from a decoder that generates. */
    static boolean isQwen3Reranker(Checkpoint checkpoint) {
        if (checkpoint.format() == Checkpoint.Format.GGUF // which says so itself
                || !checkpoint.config().string("model_type", "").equals("qwen3")) {
            return false;
        }
        Path folder = checkpoint.source().toAbsolutePath();
        boolean isNamed = StreamSupport.stream(folder.spliterator(), false)
                .skip(Math.max(0, folder.getNameCount() - 3)) // in a cache, a folder of versions may stand between
                .anyMatch(name -> name.toString().toLowerCase(Locale.ROOT).contains(NAME));
        return isNamed
                || checkpoint.config().has("is_original_qwen3_reranker")
                || card(folder).contains("# " + NAME);
    }

    /** The beginning of what a folder says of its model, in small letters. */
    private static String card(Path folder) {
        Path file = folder.resolve("README.md");
        if (!Files.isRegularFile(file)) {
            return "";
        }
        try (var stream = Files.newInputStream(file)) {
            return new String(stream.readNBytes(CARD_BYTES), StandardCharsets.UTF_8).toLowerCase(Locale.ROOT);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static PairTemplate ofBraces(String source) {
        String plain = source.replace("{query}", String.valueOf(QUERY)).replace("{document}", String.valueOf(DOCUMENT));
        String instructed = plain.replace(USUAL, String.valueOf(INSTRUCTION));
        return new PairTemplate(plain, instructed.equals(plain) ? null : instructed);
    }

    /** A chat of which one says the query, and one the document; what is asked of the model is the system's. */
    private static PairTemplate ofRoles(String name, String source) {
        ChatTemplate template = ChatTemplate.compile(name, source);
        String instructed = render(template, true);
        return new PairTemplate(render(template, false), instructed.indexOf(INSTRUCTION) < 0 ? null : instructed);
    }

    private static String render(ChatTemplate template, boolean hasInstruction) {
        var messages = new ArrayList<Map<String, String>>();
        if (hasInstruction) {
            messages.add(message("system", INSTRUCTION));
        }
        messages.add(message("query", QUERY));
        messages.add(message("document", DOCUMENT));
        return template.render(Map.of("messages", messages, "add_generation_prompt", false), LocalDateTime.MIN);
    }

    private static Map<String, String> message(String role, char content) {
        return Map.of("role", role, "content", String.valueOf(content));
    }

    PairTemplate {
        requireBoth(plain);
        if (instructed != null) {
            requireBoth(instructed);
        }
    }

    private static void requireBoth(String prompt) {
        int query = prompt.indexOf(QUERY);
        int document = prompt.indexOf(DOCUMENT);
        if (query < 0
                || document < query
                || query != prompt.lastIndexOf(QUERY)
                || document != prompt.lastIndexOf(DOCUMENT)) {
            throw new CheckpointException(
                    "the model's template of a query and a document must have each of them once, the query first");
        }
    }

    /** The prompt with an instruction; without one where it is null. */
    Parts parts(@Nullable String instruction) {
        String prompt = plain;
        if (instruction != null) {
            if (instructed == null) {
                throw new InvalidRequestException(
                        Reason.UNSUPPORTED,
                        "instruction",
                        "an instruction is given, but the model's prompt has no place for one");
            }
            prompt = instructed.replace(String.valueOf(INSTRUCTION), instruction);
        }
        List<String> parts = Arrays.asList(prompt.split("[" + QUERY + DOCUMENT + "]", 3));
        return new Parts(parts.get(0), parts.get(1), parts.get(2));
    }
}
