package roselle.backend.operation;

import roselle.backend.memory.Weight;

/**
 * A product with the chosen matrices of a stack.
 *
 * @param spread whether the input has a row per choice already, else one per token, shared by its experts
 */
public record ExpertLinear(Weight experts, Epilogue epilogue, boolean spread) {}
