package roselle.gotemplate.syntax;

import java.util.List;
import java.util.Map;

/** A template and those that it defines, by their names. */
public record Templates(List<Node> root, Map<String, List<Node>> defined) {}
