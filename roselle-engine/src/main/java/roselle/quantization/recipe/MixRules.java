package roselle.quantization.recipe;

import static roselle.tensor.DataType.IQ4_NL;
import static roselle.tensor.DataType.MXFP4;
import static roselle.tensor.DataType.Q3_K;
import static roselle.tensor.DataType.Q4_0;
import static roselle.tensor.DataType.Q4_1;
import static roselle.tensor.DataType.Q4_K;
import static roselle.tensor.DataType.Q5_0;
import static roselle.tensor.DataType.Q5_1;
import static roselle.tensor.DataType.Q5_K;
import static roselle.tensor.DataType.Q6_K;
import static roselle.tensor.DataType.Q8_0;

import roselle.tensor.DataType;

/**
 * Which type a tensor has in a mix: the choices of llama-quantize, made where files of a name are expected to be of a size and
 * quality.
 *
 * @param facts of the model
 * @param hasImportance whether it is known which columns matter
 */
record MixRules(Mix mix, ModelFacts facts, boolean hasImportance) {
    /** The type, before it is known whether rows are whole blocks of it. */
    DataType type(String name, int rank) {
        TensorKind kind = TensorKind.of(name);
        if (kind == TensorKind.OUTPUT || (kind == TensorKind.EMBEDDING && facts.sharesEmbedding())) {
            return mix.type() == Q8_0 || mix == Mix.MXFP4_MOE ? Q8_0 : Q6_K;
        }
        if (mix == Mix.MXFP4_MOE) {
            return rank > 2 ? MXFP4 : Q8_0;
        }
        if (kind == TensorKind.EMBEDDING) {
            return mix == Mix.TQ1_0 || mix == Mix.TQ2_0 ? Q4_K : mix.type();
        }
        int layer = ModelFacts.layerOf(name);
        return kind.makesValues() ? ofValues(layer) : ofOthers(kind, layer);
    }

    private DataType ofValues(int layer) {
        int index = facts.valueIndex(layer);
        int layers = facts.valueLayers();
        DataType type = switch (mix) {
            case Q2_K -> facts.queriesPerKey() >= 4 ? Q4_K : Q3_K;
            case Q2_K_S -> facts.queriesPerKey() >= 4 ? Q4_K : mix.type();
            case Q3_K_M -> index < 2 ? Q5_K : Q4_K;
            case Q3_K_L -> Q5_K;
            case IQ4_NL, IQ4_XS -> facts.queriesPerKey() >= 4 ? Q5_K : mix.type();
            case Q4_K_M, Q5_K_M -> getsMoreBits(index, layers) ? Q6_K : mix.type();
            case Q4_K_S -> index < 4 ? Q5_K : Q4_K;
            default -> mix.type();
        };
        if (facts.experts() == 8) {
            return Q8_0;
        }
        boolean isOf70Billion = facts.layers() == 80 && facts.queriesPerKey() > 1;
        return isOf70Billion && (type == Q3_K || type == Q4_K) ? Q5_K : type;
    }

    private DataType ofOthers(TensorKind kind, int layer) {
        return switch (kind) {
            case KEY -> facts.experts() == 8 ? Q8_0 : mix.type();
            case DOWN -> ofDown(layer);
            case ATTENTION_OUTPUT -> facts.experts() == 8 ? outputAmongEight() : outputOfAttention();
            case EMBEDDING, OUTPUT, QUERY, VALUE, QUERY_KEY_VALUE, LATENT_UP, OTHER -> mix.type();
        };
    }

    private DataType ofDown(int layer) {
        int layers = facts.layers();
        boolean isFirst = layer < layers / 8;
        return switch (mix) {
            case Q2_K -> Q3_K;
            case Q2_K_S -> isFirst ? Q4_K : mix.type();
            case Q3_K_M -> layer < layers / 16 ? Q5_K : Q4_K;
            case Q3_K_L -> Q5_K;
            case Q4_K_M, Q5_K_M -> getsMoreBits(layer, layers) ? Q6_K : mix.type();
            case Q4_K_S -> isFirst ? Q5_K : mix.type();
            case IQ4_NL, IQ4_XS -> isFirst && !hasImportance ? Q5_K : mix.type();
            case Q4_0 -> isFirst && hasImportance ? Q4_1 : Q4_0;
            case Q5_0 -> isFirst && hasImportance ? Q5_1 : Q5_0;
            default -> mix.type();
        };
    }

    private DataType outputOfAttention() {
        return switch (mix) {
            case Q2_K -> Q3_K;
            case Q3_K_M -> Q4_K;
            case Q3_K_L -> Q5_K;
            default -> mix.type();
        };
    }

    private DataType outputAmongEight() {
        return switch (mix) {
            case Q2_K, Q3_K_S, Q3_K_M, Q4_K_S, Q4_K_M, IQ4_NL, IQ4_XS -> Q5_K;
            default -> mix.type();
        };
    }

    /** The first and the last eighth of the layers, and of those between every third. */
    private static boolean getsMoreBits(int layer, int layers) {
        return layer < layers / 8 || layer >= 7 * layers / 8 || (layer - layers / 8) % 3 == 2;
    }

    /** A type for rows that are no whole blocks of the wanted one. */
    static DataType fitting(DataType wanted, long columns) {
        if (columns % wanted.blockElements() == 0) {
            return wanted;
        }
        DataType smaller = switch (wanted) {
            case IQ4_XS -> IQ4_NL;
            case Q2_K, Q3_K, TQ1_0, TQ2_0 -> Q4_0;
            case Q4_K -> Q5_0;
            case Q5_K -> Q5_1;
            case Q6_K -> Q8_0;
            default -> DataType.F16;
        };
        return columns % smaller.blockElements() == 0 ? smaller : DataType.F16;
    }
}
