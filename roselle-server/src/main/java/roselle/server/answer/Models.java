package roselle.server.answer;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.stream.Stream;
import roselle.api.InvalidRequestException;
import roselle.api.LoadedAdapter;
import roselle.engine.ModelFacts;
import roselle.server.config.Served;
import roselle.server.config.ServedEncoder;
import roselle.server.config.ServedModel;
import roselle.server.created.CreatedModel;
import roselle.server.created.CreatedModels;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.pool.EnginePool;
import roselle.server.pool.ModelPool;
import roselle.server.pool.ModelState;

/**
 * What a server has, by name: models that generate, the adapters that their engines have at the moment, and encoders.
 *
 * <p>Either they stay as they are, or a pool loads models when they are asked for. Whoever asks for a kind gets that kind, or says
 * in one sentence that the model is of the other one.
 */
public final class Models {
    /** Names that an error tells. */
    private static final int MOST_NAMED = 20;

    private final List<Served> served;
    private final List<ServedModel> generating;
    private final List<ServedEncoder> encoders;
    private final Optional<EnginePool> pool;
    private final CreatedModels created;
    private final BiFunction<EnginePool, String, Served> loading;

    /** What stays as it is, each with an engine of its own. */
    public Models(List<? extends Served> served) {
        this(List.copyOf(served), Optional.empty(), new CreatedModels(Optional.empty()), Models::alreadyLoaded);
        if (served.isEmpty()) {
            throw new InvalidRequestException("there is no model to serve");
        }
        long names = served.stream().map(Served::name).distinct().count();
        if (names < served.size()) {
            throw new InvalidRequestException("two models have the same name");
        }
    }

    /** Models that are loaded when they are asked for. */
    public Models(EnginePool pool) {
        this(List.of(), Optional.of(pool), new CreatedModels(pool.folder()), Models::alreadyLoaded);
    }

    private Models(
            List<Served> served,
            Optional<EnginePool> pool,
            CreatedModels created,
            BiFunction<EnginePool, String, Served> loading) {
        this.served = served;
        generating = of(served, ServedModel.class).toList();
        encoders = of(served, ServedEncoder.class).toList();
        this.pool = pool;
        this.created = created;
        this.loading = loading;
    }

    private static <T extends Served> Stream<T> of(List<Served> served, Class<T> kind) {
        return served.stream().filter(kind::isInstance).map(kind::cast);
    }

    /** The same models, of which one that is named is first loaded by {@code action}, given the pool and the name. */
    Models loadedBy(BiFunction<EnginePool, String, Served> action) {
        return pool.isEmpty() ? this : new Models(served, pool, created, action);
    }

    /** What nobody asks for an answer is told only of what is loaded. */
    private static Served alreadyLoaded(EnginePool pool, String name) {
        return pool.models().loaded().stream()
                .filter(model -> model.name().equals(name))
                .map(ModelPool.Loaded::model)
                .findFirst()
                .orElseThrow(() -> new ApiException(
                        ErrorKind.NOT_READY, "the model " + name + " is not loaded: a request for an answer loads it"));
    }

    /** What stays as it is, each with an engine of its own; nothing where models are loaded when they are asked for. */
    public List<Served> fixed() {
        return served;
    }

    /** Where models come from that are loaded when they are asked for. */
    public Optional<EnginePool> pool() {
        return pool;
    }

    /** The models that clients made of others. */
    public CreatedModels created() {
        return created;
    }

    /** Where models come from, where somebody wants to change what is loaded. */
    public EnginePool requirePool() {
        return pool.orElseThrow(() -> new ApiException(
                ErrorKind.NOT_SUPPORTED,
                "loading and unloading models is not supported where one stays as it is: start the server with several,"
                        + " or with --models"));
    }

    /** Lets requests load a model from now on, as an operator wants it; of one that a client made the model that answers. */
    public void permit(String name) {
        requirePool().permit(answering(name));
    }

    /** The name of the model that answers where a client gave the name, of a model that there is or that a client made. */
    public String answering(String name) {
        return created.find(name).map(CreatedModel::from).orElse(name);
    }

    /** The models that generate and are loaded, each with an engine of its own. */
    public List<ServedModel> bases() {
        return of(loaded(), ServedModel.class).toList();
    }

    /** The encoders that are loaded. */
    public List<ServedEncoder> encoders() {
        return of(loaded(), ServedEncoder.class).toList();
    }

    /** All that is loaded, each with an engine of its own. */
    public List<Served> loaded() {
        return pool.map(from -> from.models().loaded().stream()
                        .map(ModelPool.Loaded::model)
                        .toList())
                .orElse(served);
    }

    /** All that there is, whether loaded or not: models, adapters, and what clients made of them. */
    public List<ListedModel> listed() {
        List<ListedModel> own = given();
        Stream<ListedModel> made = created.all().stream()
                .flatMap(model -> own.stream()
                        .filter(base -> base.name().equals(model.from()))
                        .map(base -> base.as(model)));
        return Stream.concat(own.stream(), made).toList();
    }

    /** The same without what clients made. */
    public List<ListedModel> given() {
        return pool.map(ListedModel::all)
                .orElseGet(() -> everything().stream().map(ListedModel::fixed).toList());
    }

    private List<Served> everything() {
        return Stream.<Served>concat(all().stream(), encoders.stream()).toList();
    }

    /** What a name stands for, whether loaded or not. */
    public ListedModel listed(String name) {
        List<ListedModel> all = listed();
        return all.stream()
                .filter(model -> model.names().anyMatch(name::equals))
                .findFirst()
                .orElseThrow(
                        () -> unknown(name, all.stream().map(ListedModel::name).toList()));
    }

    /** What the files of a model, or of that which is adapted, say of it; nothing where they cannot be read. */
    public Optional<ModelFacts> facts(ListedModel model) {
        String name = model.parent().isEmpty() ? model.name() : model.parent();
        return pool.isPresent() ? pool.get().facts(name) : Optional.of(facts(any(Optional.of(name))));
    }

    private static ModelFacts facts(Served model) {
        return switch (model) {
            case ServedModel generating -> generating.engine().facts();
            case ServedEncoder encoder -> encoder.engine().facts();
        };
    }

    /** All names of what no client made, aliases among them. */
    public List<String> names() {
        return pool.isPresent()
                ? given().stream().flatMap(ListedModel::names).toList()
                : everything().stream().map(Served::name).toList();
    }

    /** All that generates and is loaded: models, and behind each its adapters. */
    public List<ServedModel> all() {
        var all = new ArrayList<ServedModel>();
        for (ServedModel model : bases()) {
            all.add(model);
            for (LoadedAdapter adapter : model.engine().adapters()) {
                if (!isServed(adapter.name())) { // a model's name is the model's
                    all.add(new ServedModel(adapter.name(), model.engine(), adapter.loaded(), model.name()));
                }
            }
        }
        return List.copyOf(all);
    }

    /** Whether a name is a model's or an encoder's, and no adapter's. */
    public boolean isServed(String name) {
        return pool.isPresent()
                ? pool.get().models().find(name).isPresent()
                : served.stream().anyMatch(each -> each.name().equals(name));
    }

    /** What a name stands for; without a name the only thing there is. */
    public Served any(Optional<String> name) {
        Optional<CreatedModel> made = name.flatMap(created::find);
        if (made.isPresent()) {
            Served base = any(Optional.of(made.get().from()));
            return base instanceof ServedModel model ? created.over(model, made.get()) : base;
        }
        return pool.isPresent() ? pooled(pool.get(), name) : find(name, served, everything());
    }

    /** What a name stands for that a client gave, as the model that answers asked in another way. */
    private Optional<ServedModel> made(Optional<String> name) {
        return name.flatMap(created::find).map(model -> created.over(named(Optional.of(model.from())), model));
    }

    /** The model or the adapter of a name, or what a client made of one; without a name the only model there is. */
    public ServedModel named(Optional<String> name) {
        Optional<ServedModel> made = made(name);
        if (made.isPresent()) {
            return made.get();
        }
        if (pool.isPresent()) {
            return requireGenerating(pooled(pool.get(), name));
        }
        refuseEncoder(name);
        return find(name, generating, name.filter(this::isServed).isPresent() ? generating : all());
    }

    /** The model of a name; without a name the only one there is. */
    public ServedModel base(Optional<String> name) {
        if (pool.isPresent()) {
            return requireGenerating(pooled(pool.get(), name));
        }
        refuseEncoder(name);
        return find(name, generating, generating);
    }

    private Served pooled(EnginePool from, Optional<String> name) {
        return loading.apply(from, pooledName(from, name));
    }

    private static ServedModel requireGenerating(Served served) {
        return switch (served) {
            case ServedModel model -> model;
            case ServedEncoder encoder -> throw noGenerator(encoder.name());
        };
    }

    private static ServedEncoder requireEncoder(Served served) {
        return switch (served) {
            case ServedEncoder encoder -> encoder;
            case ServedModel model -> throw noEncoder(model.name());
        };
    }

    /** The name, aliases resolved, of a model that may or may not be loaded; of one that a client made that of the model that answers. */
    public String pooledName(EnginePool from, Optional<String> asked) {
        Optional<String> name = asked.map(this::answering);
        List<ModelState> states = from.models().states();
        if (name.isEmpty() && states.size() == 1) {
            return states.getFirst().name();
        }
        List<String> names = states.stream().map(ModelState::name).toList();
        String wanted = name.orElseThrow(() -> missing(names));
        return from.models().find(wanted).orElseThrow(() -> unknown(wanted, names));
    }

    /** The encoder of a name; without a name the only one there is, or the only one of those that are wanted. */
    public ServedEncoder encoder(Optional<String> asked, Predicate<ServedEncoder> isWanted) {
        if (pool.isPresent()) { // which knows of what kind a model is when it is loaded
            return requireEncoder(pooled(pool.get(), asked));
        }
        Optional<String> name = asked.map(this::answering);
        List<ServedEncoder> wanted = encoders.stream().filter(isWanted).toList();
        if (name.isEmpty() && wanted.size() == 1) {
            return wanted.getFirst();
        }
        List<ServedModel> unnamed = encoders.isEmpty() ? generating : List.of();
        meant(name, name.isPresent() ? all() : unnamed).ifPresent(model -> {
            throw noEncoder(model);
        });
        return find(name, encoders, encoders);
    }

    private static ApiException noEncoder(String model) {
        return otherKind("the path is not supported: " + model
                + " generates and is no encoder; /v1/embeddings and /api/embed have vectors of it");
    }

    private void refuseEncoder(Optional<String> name) {
        List<ServedEncoder> others = generating.isEmpty() || name.isPresent() ? encoders : List.of();
        meant(name, others).ifPresent(model -> {
            throw noGenerator(model);
        });
    }

    private static ApiException noGenerator(String model) {
        return otherKind(model + " is an encoder, which generates nothing: ask for vectors or scores of texts");
    }

    /** The name of one of these, if it is meant. */
    private static Optional<String> meant(Optional<String> name, List<? extends Served> among) {
        if (name.isEmpty()) {
            return among.size() == 1 ? Optional.of(among.getFirst().name()) : Optional.empty();
        }
        return name.filter(wanted -> among.stream().anyMatch(each -> each.name().equals(wanted)));
    }

    private static ApiException otherKind(String sentence) {
        return new ApiException(ErrorKind.NOT_SUPPORTED, "model", sentence);
    }

    private <T extends Served> T find(Optional<String> name, List<T> bases, List<T> among) {
        if (name.isEmpty() && bases.size() == 1) {
            return bases.getFirst();
        }
        List<? extends Served> told = among.isEmpty() ? served : among;
        List<String> names = told.stream().map(Served::name).toList();
        String wanted = name.orElseThrow(() -> missing(names));
        return among.stream()
                .filter(each -> each.name().equals(wanted))
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
