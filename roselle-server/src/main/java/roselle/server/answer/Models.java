package roselle.server.answer;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import roselle.api.InvalidRequestException;
import roselle.api.LoadedAdapter;
import roselle.engine.Engine;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.pool.EnginePool;
import roselle.server.pool.ModelPool;
import roselle.server.pool.ModelState;

/**
 * The models that a server has, by name, and the adapters that their engines have at the moment.
 *
 * <p>Either they stay as they are, or a pool loads them when they are asked for.
 */
public final class Models {
    /** Names that an error tells. */
    private static final int MOST_NAMED = 20;

    private final List<ServedModel> fixed;
    private final Optional<EnginePool> pool;
    private final BiFunction<EnginePool, String, Engine> loading;

    /** Models that stay as they are, each with an engine of its own. */
    public Models(List<ServedModel> models) {
        this(List.copyOf(models), Optional.empty(), Models::alreadyLoaded);
        if (models.isEmpty()) {
            throw new InvalidRequestException("there is no model to serve");
        }
        long names = models.stream().map(ServedModel::name).distinct().count();
        if (names < models.size()) {
            throw new InvalidRequestException("two models have the same name");
        }
    }

    /** Models that are loaded when they are asked for. */
    public Models(EnginePool pool) {
        this(List.of(), Optional.of(pool), Models::alreadyLoaded);
    }

    private Models(List<ServedModel> fixed, Optional<EnginePool> pool, BiFunction<EnginePool, String, Engine> loading) {
        this.fixed = fixed;
        this.pool = pool;
        this.loading = loading;
    }

    /** The same models, of which one that is named is first loaded by {@code action}, given the pool and the name. */
    Models loadedBy(BiFunction<EnginePool, String, Engine> action) {
        return pool.isEmpty() ? this : new Models(fixed, pool, action);
    }

    /** What nobody asks for an answer is told only of what is loaded. */
    private static Engine alreadyLoaded(EnginePool pool, String name) {
        return pool.models().loaded().stream()
                .filter(model -> model.name().equals(name))
                .map(ModelPool.Loaded::model)
                .findFirst()
                .orElseThrow(() -> new ApiException(
                        ErrorKind.NOT_READY, "the model " + name + " is not loaded: a request for an answer loads it"));
    }

    /** The models that stay as they are; none where models are loaded when they are asked for. */
    public List<ServedModel> fixed() {
        return fixed;
    }

    /** Where models come from that are loaded when they are asked for. */
    public Optional<EnginePool> pool() {
        return pool;
    }

    /** The same, where somebody wants to change what is loaded. */
    public EnginePool requirePool() {
        return pool.orElseThrow(() -> new ApiException(
                ErrorKind.NOT_SUPPORTED,
                "loading and unloading models is not supported where one stays as it is: start the server with several,"
                        + " or with --models"));
    }

    /** The models that are loaded, each with an engine of its own. */
    public List<ServedModel> bases() {
        return pool.map(Models::loaded).orElse(fixed);
    }

    private static List<ServedModel> loaded(EnginePool pool) {
        return pool.models().loaded().stream()
                .map(model -> new ServedModel(model.name(), model.model(), pool.created()))
                .toList();
    }

    /** All models and adapters, whether loaded or not. */
    public List<ListedModel> listed() {
        return pool.map(ListedModel::all)
                .orElseGet(() -> all().stream().map(ListedModel::fixed).toList());
    }

    /** The model or the adapter of a name, whether loaded or not. */
    public ListedModel listed(String name) {
        List<ListedModel> all = listed();
        return all.stream()
                .filter(model -> model.names().anyMatch(name::equals))
                .findFirst()
                .orElseThrow(
                        () -> unknown(name, all.stream().map(ListedModel::name).toList()));
    }

    /** All names by which a request may ask, aliases among them. */
    public List<String> names() {
        return pool.isPresent()
                ? listed().stream().flatMap(ListedModel::names).toList()
                : all().stream().map(ServedModel::name).toList();
    }

    /** All that a request may name: models, and behind each its adapters. */
    public List<ServedModel> all() {
        var all = new ArrayList<ServedModel>();
        for (ServedModel model : bases()) {
            all.add(model);
            for (LoadedAdapter adapter : model.engine().adapters()) {
                if (!isBase(adapter.name())) { // a model's name is the model's
                    all.add(new ServedModel(adapter.name(), model.engine(), adapter.loaded(), model.name()));
                }
            }
        }
        return List.copyOf(all);
    }

    /** Whether a name is a model's. */
    public boolean isBase(String name) {
        return pool.isPresent()
                ? pool.get().models().find(name).isPresent()
                : fixed.stream().anyMatch(model -> model.name().equals(name));
    }

    /** The model or the adapter of a name; without a name the only model there is. */
    public ServedModel named(Optional<String> name) {
        return pool.isPresent()
                ? pooled(pool.get(), name)
                : find(name, name.filter(this::isBase).isPresent() ? fixed : all());
    }

    /** The model of a name; without a name the only one there is. */
    public ServedModel base(Optional<String> name) {
        return pool.isPresent() ? pooled(pool.get(), name) : find(name, fixed);
    }

    private ServedModel pooled(EnginePool from, Optional<String> name) {
        String known = pooledName(from, name);
        return new ServedModel(known, loading.apply(from, known), from.created());
    }

    /** The name, aliases resolved, of a model that may or may not be loaded. */
    public String pooledName(EnginePool from, Optional<String> name) {
        List<ModelState> states = from.models().states();
        if (name.isEmpty() && states.size() == 1) {
            return states.getFirst().name();
        }
        List<String> names = states.stream().map(ModelState::name).toList();
        String wanted = name.orElseThrow(() -> missing(names));
        return from.models().find(wanted).orElseThrow(() -> unknown(wanted, names));
    }

    private ServedModel find(Optional<String> name, List<ServedModel> among) {
        if (name.isEmpty() && fixed.size() == 1) {
            return fixed.getFirst();
        }
        List<String> names = among.stream().map(ServedModel::name).toList();
        String wanted = name.orElseThrow(() -> missing(names));
        return among.stream()
                .filter(model -> model.name().equals(wanted))
                .findFirst()
                .orElseThrow(() -> unknown(wanted, names));
    }

    private static ApiException missing(List<String> names) {
        return new ApiException(
                ErrorKind.MISSING_FIELD, "model", "model is missing: it must be one of " + shown(names));
    }

    private static ApiException unknown(String wanted, List<String> names) {
        return new ApiException(
                ErrorKind.MODEL_NOT_FOUND,
                "model",
                "there is no model " + clipped(wanted) + ": this server has " + shown(names));
    }

    private static String shown(List<String> names) {
        String first = String.join(", ", names.stream().limit(MOST_NAMED).toList());
        return names.size() <= MOST_NAMED ? first : first + " and " + (names.size() - MOST_NAMED) + " more";
    }

    private static String clipped(String text) {
        return text.length() <= 64 ? text : text.substring(0, 64) + "…";
    }
}
