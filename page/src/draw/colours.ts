// Colours for what is drawn on a canvas or as SVG: the style sheet's variables, read once a theme.

/** Number of paths with a colour of their own; one further colour serves all other paths. */
export const PATH_COLOURS = 8;

/** The style sheet's variable for path number `index`, most frequent first. */
export function pathColour(index: number): string {
  return index >= 0 && index < PATH_COLOURS ? `var(--path-${index})` : 'var(--path-other)';
}

/** A canvas takes no variables: their values, under the theme that is shown. */
export function canvasColours(element: Element): (variable: string) => string {
  const style = getComputedStyle(element);
  return (variable) => style.getPropertyValue(variable).trim();
}
