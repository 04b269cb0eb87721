package roselle.server.answer;

import java.util.List;
import java.util.Optional;
import roselle.api.InvalidRequestException;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;

/** The models that a server has, by name. */
public final class Models {
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

    public List<ServedModel> all() {
        return models;
    }

    /** The model of a name; without a name the only one there is. */
    public ServedModel named(Optional<String> name) {
        if (name.isEmpty() && models.size() == 1) {
            return models.getFirst();
        }
        String wanted = name.orElseThrow(() ->
                new ApiException(ErrorKind.MISSING_FIELD, "model", "model is missing: it must be one of " + names()));
        return models.stream()
                .filter(model -> model.name().equals(wanted))
                .findFirst()
                .orElseThrow(() -> new ApiException(
                        ErrorKind.MODEL_NOT_FOUND,
                        "model",
                        "there is no model " + clipped(wanted) + ": this server has " + names()));
    }

    private String names() {
        return String.join(", ", models.stream().map(ServedModel::name).toList());
    }

    private static String clipped(String text) {
        return text.length() <= 64 ? text : text.substring(0, 64) + "…";
    }
}
