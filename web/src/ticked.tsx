// Texts in which backticks mark names.

/** Text with the words between backticks set as code. */
export function Ticked({ text }: { text: string }) {
  return <>{text.split("`").map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part))}</>;
}
