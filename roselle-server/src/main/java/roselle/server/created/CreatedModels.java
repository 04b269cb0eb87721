package roselle.server.created;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;

/** The models that were made of others, by Ollama's names; kept in a file where models have a folder that may change. Thread-safe. */
public final class CreatedModels {
    /** Beside the models of a folder; no model has such a name. */
    static final String FILE = ".created-models.json";

    private static final System.Logger LOG = System.getLogger(CreatedModels.class.getName());
    private static final int MOST = 1000;

    private static final String BLOBS = ".blobs";

    /** The tag of a name that has none. */
    static final String LATEST = ":latest";

    private final Map<String, CreatedModel> models = new TreeMap<>();
    private final Optional<Path> folder;
    private final Optional<Path> file;

    /** Those that are kept in a folder, if there is one. */
    public CreatedModels(Optional<Path> folder) {
        this.folder = folder;
        file = folder.map(each -> each.resolve(FILE));
        file.filter(Files::exists).ifPresent(this::read);
    }

    private void read(Path kept) {
        try {
            for (JsonNode each : JsonMapper.shared().readTree(Files.readString(kept))) {
                CreatedModel model = CreatedModel.of(each);
                models.put(model.name(), model);
            }
        } catch (IOException | RuntimeException damaged) {
            setAside(kept, damaged);
        }
    }

    /** What cannot be read is no reason to serve nothing: it stays under another name, for who wants to mend it. */
    private void setAside(Path kept, Exception damaged) {
        models.clear();
        Path aside = kept.resolveSibling(FILE + ".damaged");
        try {
            Files.move(kept, aside, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException unmovable) {
            damaged.addSuppressed(unmovable);
        }
        LOG.log(
                System.Logger.Level.WARNING,
                kept + " cannot be read, so no model that was made of others is there: it is kept as "
                        + aside.getFileName(),
                damaged);
    }

    private void write() {
        file.ifPresent(kept -> {
            try {
                Path next = kept.resolveSibling(FILE + ".next");
                ArrayNode all = JsonMapper.shared().createArrayNode();
                models.values().forEach(model -> all.add(model.json()));
                Files.writeString(next, JsonMapper.shared().writeValueAsString(all));
                Files.move(next, kept, StandardCopyOption.ATOMIC_MOVE);
            } catch (IOException unwritable) {
                throw new UncheckedIOException(unwritable);
            }
        });
    }

    public synchronized Optional<CreatedModel> find(String name) {
        return Optional.ofNullable(models.get(tagged(name)));
    }

    public synchronized List<CreatedModel> all() {
        return List.copyOf(models.values());
    }

    /** Keeps a model; returns the one that had its name. */
    public synchronized Optional<CreatedModel> put(CreatedModel model) {
        if (models.size() == MOST && !models.containsKey(model.name())) {
            throw new ApiException(
                    ErrorKind.NOT_SUPPORTED, "there are " + MOST + " models made of others: delete one first");
        }
        Optional<CreatedModel> before = Optional.ofNullable(models.put(model.name(), model));
        write();
        return before;
    }

    /** Forgets a model; returns what it was. */
    public synchronized Optional<CreatedModel> remove(String name) {
        Optional<CreatedModel> removed = Optional.ofNullable(models.remove(tagged(name)));
        removed.ifPresent(_ -> write());
        return removed;
    }

    /** The name that a model is listed under: what has no tag has the tag {@code latest}. */
    public static String tagged(String name) {
        boolean isTagged = name.indexOf(':', name.lastIndexOf('/') + 1) >= 0;
        return isTagged ? name : name + LATEST;
    }

    /** Where uploaded files are, in the folder of models. */
    public static Path blobs(Path folder) {
        return folder.resolve(BLOBS);
    }

    /**
     * A model that answers, asked in the way of one that was made of it, with its adapter, which the engine reads if it has not done so.
     *
     * @throws ApiException if what is said of it cannot be honoured
     */
    public ServedModel over(ServedModel base, CreatedModel made) {
        String adapter = made.adapter();
        boolean isLoaded = adapter.isEmpty()
                || base.engine().adapters().stream()
                        .anyMatch(each -> each.name().equals(adapter));
        if (!isLoaded) {
            base.engine().loadAdapter(adapter, blobs(folder.orElseThrow()).resolve(adapter));
        }
        return made.over(base, adapter);
    }
}
