// Texts in which backticks mark names.

/** The lines in which CEL shows an expression, with a mark below the place that is wrong. */
const SOURCE = /\n \| .*(?:\n \| .*)*/;

/** Text with the words between backticks set as code, and a shown expression as it is. */
export function Ticked({ text }: { text: string }) {
  const source = SOURCE.exec(text);
  if (source === null) return <>{text.split("`").map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part))}</>;
  const [lines] = source;
  return (
    <>
      <Ticked text={text.slice(0, source.index)} />
      <code class="source">{lines.replaceAll("\n | ", "\n").slice(1)}</code>
      <Ticked text={text.slice(source.index + lines.length)} />
    </>
  );
}
