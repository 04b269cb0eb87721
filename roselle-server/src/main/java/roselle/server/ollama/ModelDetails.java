package roselle.server.ollama;

import java.util.Locale;
import java.util.Optional;
import roselle.engine.ModelFacts;
import roselle.server.config.Served;
import roselle.server.config.ServedModel;
import roselle.server.http.JsonWriter;
import roselle.tokenizer.Tokenizer;

/**
 * What Ollama's clients show of a model: its family, size and format.
 *
 * @param format {@code gguf} or {@code safetensors}
 * @param family its architecture
 * @param parameters numbers in all tensors
 * @param quantization how they are stored: a mix of types, or the type that most of them have
 */
record ModelDetails(String format, String family, long parameters, String quantization) {
    private static final ModelDetails UNKNOWN = new ModelDetails("", "", 0, "");

    /** Of what a model's files say; nothing where they could not be read. */
    static ModelDetails of(Optional<ModelFacts> facts) {
        return facts.map(known -> new ModelDetails(
                        known.format(), known.architecture(), known.parameters(), known.quantization()))
                .orElse(UNKNOWN);
    }

    void write(JsonWriter json, String parent) {
        json.object("details")
                .field("parent_model", parent)
                .field("format", format)
                .field("family", family)
                .array("families");
        if (!family.isEmpty()) {
            json.value(family);
        }
        json.endArray()
                .field("parameter_size", size(parameters))
                .field("quantization_level", quantization)
                .endObject();
    }

    /** By the keys of GGUF; {@code tells} everything, its tokens, too. */
    void writeInformation(JsonWriter json, Served model, boolean tellsAll) {
        String architecture = family.isEmpty() ? "unknown" : family;
        json.object("model_info")
                .field("general.architecture", architecture)
                .field("general.parameter_count", parameters)
                .field(architecture + ".context_length", model.context());
        if (tellsAll && model instanceof ServedModel generating) {
            tokens(json.array("tokenizer.ggml.tokens"), generating.engine().tokenizer());
        }
        json.endObject();
    }

    private static void tokens(JsonWriter json, Tokenizer tokenizer) {
        for (int id = 0; id < tokenizer.vocabularySize(); id++) {
            json.value(tokenizer.hasToken(id) ? tokenizer.spellingOf(id) : "");
        }
        json.endArray();
    }

    /** As Ollama writes it: 3.2B, 134.52M, 260K. */
    static String size(long number) {
        if (number == 0) {
            return "";
        }
        if (number >= 1_000_000_000) {
            return scaled(number / 1e9, 1) + "B";
        }
        if (number >= 1_000_000) {
            return scaled(number / 1e6, 2) + "M";
        }
        return number >= 1000 ? scaled(Math.rint(number / 1e3), 0) + "K" : Long.toString(number);
    }

    private static String scaled(double number, int digits) {
        return String.format(Locale.ROOT, "%." + (number == Math.floor(number) ? 0 : digits) + "f", number);
    }
}
