#pragma once

#include <string_view>

namespace interlace::report {

/// The style sheet of the HTML report. Colour pairs were chosen to be told apart with common colour blindness; text in
/// boxes keeps a contrast of 4.5 to 1 in both themes. (No '<' or '&': the page is XML too.)
inline constexpr std::string_view kReportStyle = R"css(
:root { --bg: #ffffff; --fg: #1d2330; --dim: #5b6475; --line: #d9dde5; --lane: #f3f5f8; --best: #0b6e4f; --race: #9a3b00;
  --stage: #c9d3e6; --stage-text: #1d2330; --blocked: #f0b429; --blocked-text: #2b1d00; --compute: #2b6cb0;
  --compute-text: #ffffff; --communication: #c2410c; --communication-text: #ffffff; --copy: #0f766e; --copy-text: #ffffff;
  --whisker: #9db7d8; --dot: #1e4e8c; }
@media (prefers-color-scheme: dark) {
  :root { --bg: #14171d; --fg: #e6e9ef; --dim: #9aa4b5; --line: #313845; --lane: #1c2028; --best: #4fd1a5; --race: #ffa366;
    --stage: #39455c; --stage-text: #e6e9ef; --blocked: #d69e2e; --blocked-text: #1d1400; --compute: #5a9be0;
    --compute-text: #0a1424; --communication: #f08a4b; --communication-text: #241003; --copy: #3fb8ab;
    --copy-text: #04211e; --whisker: #3d5a80; --dot: #8fc1ff; }
}
body { background: var(--bg); color: var(--fg); font: 15px/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 1180px; margin: 0 auto; padding: 24px; }
h1 { font-size: 1.6em; margin: 0 0 12px; } h2 { font-size: 1.25em; margin: 32px 0 8px; } h3 { font-size: 1em; margin: 16px 0 4px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 0; } dt { color: var(--dim); }
dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; margin: 12px 0; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 12px; border-bottom: 1px solid var(--line); text-align: right; font-weight: normal; vertical-align: top; }
thead th { color: var(--dim); vertical-align: bottom; } td { white-space: nowrap; } tbody th, th:first-child { text-align: left; white-space: nowrap; }
.quality td { text-align: left; white-space: normal; } .quality td:nth-child(3) { text-align: right; }
tr.best th, tr.best td { color: var(--best); font-weight: bold; }
.note, .key { color: var(--dim); margin: 4px 0; } .race, .hazard { color: var(--race); } .hazard { font-weight: 600; } .scroll { overflow-x: auto; }
ul { margin: 4px 0; padding-left: 22px; } summary { cursor: pointer; padding: 4px 0; } code { font-size: 0.92em; }
svg text { font: 12px system-ui, sans-serif; fill: var(--fg); } svg .mark { fill: var(--dim); font-size: 11px; }
svg .title { font-weight: bold; font-size: 13px; } svg .label { font-size: 10px; }
svg .grid { stroke: var(--line); } svg .lane { fill: var(--lane); }
svg .recorded { stroke: var(--dim); stroke-dasharray: 4 4; } svg .whisker { fill: var(--whisker); } svg .dot { fill: var(--dot); }
svg .best .dot { fill: var(--best); } svg .best .name, svg .best .value { fill: var(--best); font-weight: bold; }
svg .stage rect { fill: var(--stage); stroke: var(--bg); stroke-width: 0.5; } svg .stage text { fill: var(--stage-text); }
svg .blocked rect { fill: var(--blocked); } svg .blocked text { fill: var(--blocked-text); }
svg .compute rect { fill: var(--compute); } svg .compute text { fill: var(--compute-text); }
svg .communication rect { fill: var(--communication); } svg .communication text { fill: var(--communication-text); }
svg .copy rect { fill: var(--copy); } svg .copy text { fill: var(--copy-text); }
)css";

}  // namespace interlace::report
