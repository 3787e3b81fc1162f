// Names of drivers and hosts where there is little room.

/** A name that breaks behind its dots, before a word of it does. */
export function Dotted({ name }: { name: string }) {
  return (
    <>
      {name.split(/(?<=\.)/).map((part, index) => (
        <>
          {index > 0 && <wbr />}
          {part}
        </>
      ))}
    </>
  );
}
