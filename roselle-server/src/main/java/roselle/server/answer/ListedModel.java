package roselle.server.answer;

import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import roselle.engine.EnginePlan;
import roselle.server.config.Served;
import roselle.server.config.ServedEncoder;
import roselle.server.config.ServedModel;
import roselle.server.created.CreatedModel;
import roselle.server.pool.EnginePool;
import roselle.server.pool.ModelPlan;
import roselle.server.pool.ModelState;

/**
 * A model, or an adapter, as lists have it: it need not be loaded.
 *
 * @param parent the name of the model that this is an adapter of, or was made of by a client; empty for a model
 * @param isSound whether it would answer, were it loaded: its engine has not ended
 */
public record ListedModel(String name, String parent, Instant created, ModelState state, boolean isSound) {
    static ListedModel fixed(Served model) {
        return switch (model) {
            case ServedModel generating -> generating(generating);
            case ServedEncoder encoder -> encoder(encoder);
        };
    }

    private static ListedModel generating(ServedModel model) {
        EnginePlan plan = model.engine().plan();
        var sizes = ModelPlan.fixed(plan.totalBytes(), plan.weightBytes(), model.context(), plan.machineBytes());
        ModelState state = model.engine().cache().isAsleep()
                ? ModelState.sleeping(model.name(), sizes, plan.totalBytes() - plan.kvBytes())
                : ModelState.fixed(model.name(), sizes);
        return new ListedModel(
                model.name(),
                model.parent(),
                model.created(),
                state,
                model.engine().status().isAlive());
    }

    private static ListedModel encoder(ServedEncoder model) {
        var engine = model.engine();
        var sizes = ModelPlan.fixed(engine.totalBytes(), engine.weightBytes(), model.context(), 0);
        return new ListedModel(
                model.name(),
                "",
                model.created(),
                ModelState.fixed(model.name(), sizes),
                engine.status().isAlive());
    }

    static List<ListedModel> all(EnginePool pool) {
        return pool.models().states().stream()
                .map(state -> new ListedModel(state.name(), "", pool.created(), state, true))
                .toList();
    }

    /** What a client made of it. */
    ListedModel as(CreatedModel made) {
        int context = made.context().orElse(context());
        return new ListedModel(
                made.name(), name, made.created(), state.as(made.name(), made.aliases(), context), isSound);
    }

    /** The names by which a request may ask for it. */
    Stream<String> names() {
        return Stream.concat(Stream.of(name), state.aliases().stream());
    }

    /** Tokens of prompt and answer together; 0 where nobody has looked at the model yet. */
    public int context() {
        return state.plan().context();
    }
}
