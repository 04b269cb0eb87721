package roselle.sampling;

import roselle.backend.TokenDraws;
import roselle.batch.SamplingPlan;

/** What narrows the tokens of one draw, as plain numbers; reused from draw to draw. */
final class Filters {
    double temperature;
    int topK; // 0 keeps all
    double topP;
    double minP;
    double typicalP;
    long seed;

    Filters of(SamplingPlan plan) {
        temperature = plan.temperature;
        topK = plan.topK;
        topP = plan.topP;
        minP = plan.minP;
        typicalP = plan.typicalP;
        seed = plan.seed;
        return this;
    }

    /** Those of a row of draws, which know no typical sampling. */
    Filters of(TokenDraws draws, int row) {
        temperature = draws.temperature[row];
        topK = draws.topK[row];
        topP = draws.topP[row];
        minP = draws.minP[row];
        typicalP = 1;
        seed = draws.seed[row];
        return this;
    }
}
