package roselle.model;

/** A decoder as data. */
public record DecoderSpec(String architecture) {}
