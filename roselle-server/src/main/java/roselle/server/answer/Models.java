package roselle.server.answer;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import roselle.api.InvalidRequestException;
import roselle.api.LoadedAdapter;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;

/** The models that a server has, by name, and the adapters that their engines have at the moment. */
public final class Models {
    /** Names that an error tells. */
    private static final int MOST_NAMED = 20;

    private final List<ServedModel> models;

    public Models(List<ServedModel> models) {
        this.models = List.copyOf(models);
        if (models.isEmpty()) {
            throw new InvalidRequestException("there is no model to serve");
        }
        long names = models.stream().map(ServedModel::name).distinct().count();
        if (names < models.size()) {
            throw new InvalidRequestException("two models have the same name");
        }
    }

    /** The models that it was started with, each with an engine of its own. */
    public List<ServedModel> bases() {
        return models;
    }

    /** All that a request may name: models, and behind each its adapters. */
    public List<ServedModel> all() {
        var all = new ArrayList<ServedModel>();
        for (ServedModel model : models) {
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
        return models.stream().anyMatch(model -> model.name().equals(name));
    }

    /** The model or the adapter of a name; without a name the only model there is. */
    public ServedModel named(Optional<String> name) {
        return find(name, name.filter(this::isBase).isPresent() ? models : all());
    }

    /** The model of a name; without a name the only one there is. */
    public ServedModel base(Optional<String> name) {
        return find(name, models);
    }

    private ServedModel find(Optional<String> name, List<ServedModel> among) {
        if (name.isEmpty() && models.size() == 1) {
            return models.getFirst();
        }
        String wanted = name.orElseThrow(() -> new ApiException(
                ErrorKind.MISSING_FIELD, "model", "model is missing: it must be one of " + names(among)));
        return among.stream()
                .filter(model -> model.name().equals(wanted))
                .findFirst()
                .orElseThrow(() -> new ApiException(
                        ErrorKind.MODEL_NOT_FOUND,
                        "model",
                        "there is no model " + clipped(wanted) + ": this server has " + names(among)));
    }

    private static String names(List<ServedModel> among) {
        String first = String.join(
                ", ", among.stream().limit(MOST_NAMED).map(ServedModel::name).toList());
        return among.size() <= MOST_NAMED ? first : first + " and " + (among.size() - MOST_NAMED) + " more";
    }

    private static String clipped(String text) {
        return text.length() <= 64 ? text : text.substring(0, 64) + "…";
    }
}
