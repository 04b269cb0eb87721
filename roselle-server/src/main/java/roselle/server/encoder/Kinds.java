package roselle.server.encoder;

import java.util.List;
import java.util.Optional;
import roselle.server.answer.Models;
import roselle.server.config.ServedEncoder;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;

/** What an encoder gives: who wants another thing of it is told so. A request that names none means the only one that gives it. */
public final class Kinds {
    private Kinds() {}

    /** The encoder of a name, whose texts give vectors. */
    public static ServedEncoder embedding(Models models, Optional<String> name) {
        return embedding(models.encoder(
                name, encoder -> !encoder.isClassifier() && encoder.engine().givesDense()));
    }

    /** The encoder of a name, whose texts give sparse vectors. */
    public static ServedEncoder sparse(Models models, Optional<String> name) {
        ServedEncoder encoder = models.encoder(name, each -> each.engine().givesSparse());
        if (!encoder.engine().givesSparse()) {
            throw refusal(encoder.name() + " gives no sparse vectors: "
                    + encoder.engine().sparseAbsence());
        }
        return encoder;
    }

    /** The encoder of a name, whose texts give a score for each label. */
    public static ServedEncoder classifier(Models models, Optional<String> name) {
        return classifier(models.encoder(name, ServedEncoder::isClassifier));
    }

    /** The encoder of a name, whose pairs of texts give one score. */
    public static ServedEncoder ranker(Models models, Optional<String> name) {
        return ranker(models.encoder(name, encoder -> encoder.engine().labels().size() == 1));
    }

    /** The encoder of a name, whatever it gives. */
    public static ServedEncoder any(Models models, Optional<String> name) {
        return models.encoder(name, _ -> true);
    }

    /** The encoder, whose texts give vectors. */
    public static ServedEncoder embedding(ServedEncoder encoder) {
        if (encoder.isClassifier()) {
            throw refusal(encoder.name() + " is a classifier, whose texts give scores and no vectors: ask /classify,"
                    + " or /rerank where it has one label");
        }
        if (!encoder.engine().givesDense()) {
            throw refusal(encoder.name() + " gives sparse vectors alone: ask /embed_sparse");
        }
        return encoder;
    }

    private static ServedEncoder classifier(ServedEncoder encoder) {
        if (!encoder.isClassifier()) {
            throw refusal(encoder.name() + " is no classifier, so it has no scores: ask /v1/embeddings for vectors");
        }
        if (encoder.engine().isTokenClassifier()) {
            throw refusal(encoder.name() + " scores each token and no text as a whole: ask /pooling");
        }
        return encoder;
    }

    private static ServedEncoder ranker(ServedEncoder encoder) {
        List<String> labels = classifier(encoder).engine().labels();
        if (labels.size() != 1) {
            throw refusal(encoder.name() + " has " + labels.size()
                    + " labels: what ranks texts has one; ask /classify for the scores of texts");
        }
        return encoder;
    }

    private static ApiException refusal(String sentence) {
        return new ApiException(ErrorKind.NOT_SUPPORTED, "model", sentence);
    }
}
