package roselle.gotemplate.run;

/** How a list of nodes was left. */
enum Flow {
    NEXT,
    BREAK,
    CONTINUE
}
