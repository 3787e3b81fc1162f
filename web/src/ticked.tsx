// Texts in which backticks mark names.

/** Text with the words between backticks set as code. An expression that CEL shows stays as it is, for a mark stands below the place that is wrong. */
export function Ticked({ text }: { text: string }) {
  const parts = text.split(/((?:\n \| .*)+)/);
  return (
    <>
      {parts.map((part, index) =>
        index % 2 === 1
          ? <code class="source">{part.replaceAll("\n | ", "\n").slice(1)}</code>
          : part.split("`").map((word, at) => (at % 2 === 1 ? <code>{word}</code> : word)),
      )}
    </>
  );
}
