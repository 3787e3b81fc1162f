// Whose rules hold beyond the version, and how the page looks.

import { useState } from "preact/hooks";

import type { WindowProps } from "../header";
import { usePage } from "../page";
import { Dialog } from "../parts";
import { THEMES, prefer, preferences } from "../preferences";
import { GATES } from "./gates";
import * as words from "../words";

export function Settings({ onClose }: WindowProps) {
  const { state, act } = usePage();
  const [kept, setKept] = useState(preferences);
  return (
    <Dialog title={words.SETTINGS} onClose={onClose}>
      <fieldset class="row">
        <legend>{words.THEME}</legend>
        {THEMES.map((theme) => (
          <label>
            <input type="radio" name="theme" checked={kept.theme === theme} onChange={() => setKept(prefer({ theme }))} /> {words.THEMES[theme]}
          </label>
        ))}
      </fieldset>
      <h3>{words.GATES}</h3>
      <p class="muted">{words.GATES_SAY}</p>
      <table>
        <caption class="hidden">{words.GATES}</caption>
        <tbody>
          {GATES.map((gate) => (
            <tr>
              <th scope="row" class="code">
                {gate}
              </th>
              <td>
                <select
                  aria-label={gate}
                  value={state.gates[gate] === undefined ? "" : String(state.gates[gate])}
                  onChange={({ currentTarget: { value } }) => act.setGate(gate, value === "" ? undefined : value === "true")}
                >
                  <option value="">{words.GATE_DEFAULT}</option>
                  <option value="true">{words.ON}</option>
                  <option value="false">{words.OFF}</option>
                </select>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  );
}
