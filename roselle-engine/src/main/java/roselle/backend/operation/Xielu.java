package roselle.backend.operation;

/**
 * An activation that was trained (xIELU; Huang and Schlag, 2024): {@code positive * x * x + slope * x} where x is above 0, else
 * {@code negative * (exp(min(x, bound)) - 1 - x) + slope * x}.
 */
public record Xielu(float positive, float negative, float slope, float bound) {}
