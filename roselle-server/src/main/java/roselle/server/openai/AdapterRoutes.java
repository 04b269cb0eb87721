package roselle.server.openai;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import roselle.api.CheckpointException;
import roselle.api.LoadedAdapter;
import roselle.server.answer.Answers;
import roselle.server.answer.Models;
import roselle.server.config.AdapterOptions;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.JsonFields;
import roselle.server.http.Routes;

/** {@code /v1/load_lora_adapter} and {@code /v1/unload_lora_adapter}, in vLLM's form: for operators, within one folder. */
final class AdapterRoutes {
    private static final String TEXT = "text/plain; charset=utf-8";

    private final Answers answers;
    private final Models models;
    private final AdapterOptions options;

    AdapterRoutes(Answers answers, AdapterOptions options) {
        this.answers = answers;
        this.options = options;
        models = answers.models();
    }

    void register(Routes routes) {
        routes.post("/v1/load_lora_adapter", admitted(this::load))
                .post("/v1/unload_lora_adapter", admitted(this::unload));
    }

    private interface Route {
        String handle(JsonFields fields) throws IOException;
    }

    private Handler admitted(Route route) {
        return exchange -> {
            try (var _ = answers.admit(exchange)) {
                tell(exchange, route.handle(exchange.json()));
            }
        };
    }

    private static void tell(Exchange exchange, String sentence) {
        exchange.send(200, TEXT, sentence.getBytes(StandardCharsets.UTF_8));
    }

    private String load(JsonFields fields) throws IOException {
        String name = fields.requiredString("lora_name");
        String path = fields.requiredString("lora_path");
        fields.requireDefault("load_inplace", "unload the adapter of that name first", false);
        ServedModel model = models.base(fields.string("model"));
        fields.refuseOthers();
        if (models.isServed(name)) {
            throw ApiException.invalid("lora_name", "lora_name is the name of a model: give the adapter another one");
        }
        try {
            LoadedAdapter adapter = model.engine().loadAdapter(name, within(path));
            return "Success: LoRA adapter '" + adapter.name() + "' added successfully.";
        } catch (CheckpointException unreadable) {
            throw ApiException.invalid("lora_path", String.valueOf(unreadable.getMessage()));
        }
    }

    private String unload(JsonFields fields) {
        String name = fields.requiredString("lora_name");
        ServedModel model = models.base(fields.string("model"));
        fields.refuseOthers();
        model.engine().unloadAdapter(name);
        return "Success: LoRA adapter '" + name + "' removed successfully.";
    }

    /** The path as the file system has it, when it lies within the operator's folder, links followed. */
    private Path within(String path) throws IOException {
        Path folder = folder().toRealPath();
        Path found;
        try {
            found = folder.resolve(path).toRealPath();
        } catch (InvalidPathException | IOException _) {
            throw notThere(path);
        }
        if (!found.startsWith(folder) || (Files.isDirectory(found) && !holds(folder, found))) {
            throw notThere(path); // what lies elsewhere is nobody's business
        }
        return found;
    }

    /** Whether all files of a folder below another one are there, too, and no links to elsewhere. */
    private static boolean holds(Path folder, Path below) throws IOException {
        try (Stream<Path> files = Files.list(below)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                if (Files.isSymbolicLink(file) && !file.toRealPath().startsWith(folder)) {
                    return false;
                }
            }
            return true;
        }
    }

    private Path folder() {
        Optional<Path> folder = options.folder();
        return folder.orElseThrow(() -> new ApiException(
                ErrorKind.NOT_SUPPORTED,
                "adapters are loaded from one folder alone: start the server with --lora-folder"));
    }

    private static ApiException notThere(String path) {
        String shown = path.length() <= 64 ? path : path.substring(0, 64) + "…";
        return ApiException.invalid("lora_path", "there is no " + shown + " in the folder of adapters");
    }
}
