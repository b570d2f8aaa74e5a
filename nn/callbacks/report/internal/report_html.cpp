#include <ktape/nn/callbacks/report/internal/report_html.hpp>
#include <ktape/nn/core/text.hpp>

#include <iomanip>
#include <sstream>

namespace ktape::nn::html {

const char* const style = R"(
:root{color-scheme:light dark;--page:#f1f5f9;--card:#fff;--ink:#0f172a;--muted:#475569;--line:#e2e8f0;--accent:#2563eb;--bad:#c2410c;--good:#15803d}
@media(prefers-color-scheme:dark){:root{--page:#0b1220;--card:#111827;--ink:#e5e7eb;--muted:#a3b0c2;--line:#2b3648;--accent:#60a5fa;--bad:#fb923c;--good:#4ade80}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:1560px;margin:0 auto;padding:20px clamp(12px,2.5vw,36px) 40px}
h1{font-size:1.6rem;line-height:1.25;margin:.2em 0 0;overflow-wrap:anywhere}
h2{font-size:1.1rem;margin:1.8em 0 .6em}
h3{font-size:.95rem;margin:0 0 .6em}
.muted{color:var(--muted);margin:.1em 0 0}
.grid{display:grid;gap:14px;grid-template-columns:repeat(auto-fill,minmax(min(100%,330px),1fr))}
.wide{grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));align-items:start}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px;min-width:0}
.picture{padding:4px}
.picture>svg{display:block;width:100%;max-width:580px;height:auto;margin:0 auto}
.scroll{overflow:auto;max-height:34rem}
.stack{display:grid;gap:14px;grid-template-columns:minmax(0,1fr)}
.model+.model{margin-top:14px}
.columns{display:grid;gap:44px 14px;grid-template-columns:repeat(auto-fit,minmax(min(100%,470px),1fr));align-items:start;justify-items:center}
.columns>svg{max-width:100%;height:auto}
.totals{margin-top:10px}
.numbers{display:grid;gap:12px;grid-template-columns:repeat(auto-fill,minmax(176px,1fr));margin-top:16px}
.numbers .card{padding:10px 14px}
.numbers b{display:block;font-size:1.25rem;line-height:1.4;font-variant-numeric:tabular-nums}
.numbers span{color:var(--muted);font-size:.82rem;display:block;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%;font-size:.86rem;font-variant-numeric:tabular-nums}
th{text-align:left;color:var(--muted);font-weight:600}
th,td{padding:5px 14px 5px 0;border-bottom:1px solid var(--line);vertical-align:top;white-space:pre-line}
tr:last-child td{border-bottom:0}
.right{text-align:right}
td.value,.model td:not(.right){overflow-wrap:anywhere}
@media(max-width:640px){.card{padding:12px}table{font-size:.78rem}th,td{padding-right:7px}}
summary{cursor:pointer;color:var(--accent)}
details .scroll{margin-top:8px}
.samples{display:grid;gap:10px;grid-template-columns:repeat(auto-fill,minmax(96px,1fr))}
.samples figure{margin:0;font-size:.8rem;line-height:1.35}
.samples img{width:100%;aspect-ratio:1;object-fit:contain;image-rendering:pixelated;background:#0004;border-radius:6px;display:block}
.samples figcaption{margin-top:4px;overflow-wrap:anywhere}
.wrong{color:var(--bad)}.right-guess{color:var(--good)}
footer{margin-top:2.5em;color:var(--muted);font-size:.82rem}
)";

std::string seconds_text(double seconds) {
  std::ostringstream text;
  text << std::fixed;
  const auto whole = static_cast<std::int64_t>(seconds);
  if (seconds < 1) text << std::setprecision(seconds < 0.01 ? 2 : 0) << seconds * 1000 << " ms";
  else if (seconds < 60) text << std::setprecision(1) << seconds << " s";
  else if (whole < 3600)
    text << whole / 60 << ':' << std::setfill('0') << std::setw(2) << whole % 60 << " min";
  else
    text << whole / 3600 << ':' << std::setfill('0') << std::setw(2) << whole / 60 % 60 << ':' << std::setw(2)
         << whole % 60 << " h";
  return text.str();
}

std::string percent_text(double part) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(part > 0 && part < 0.1 ? 2 : 1) << part * 100 << "\u00a0%";
  return text.str();
}

std::string count_text(std::int64_t count, const char* what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

std::string row_of(const std::vector<std::string>& cells, const char* cell, std::size_t numbers,
                   std::size_t numbers_end) {
  std::string row = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i)
    row += std::string("<") + cell + (i >= numbers && i < numbers_end ? " class=right>" : ">") +
           escaped(cells[i]) + "</" + cell + '>';
  return row + "</tr>\n";
}

std::string pair_row(const std::string& name, const std::string& value) {
  return "<tr><th>" + escaped(name) + "</th><td class=value>" + escaped(value) + "</td></tr>\n";
}

std::string picture(const plot::Figure& figure) {
  return "<div class=\"card picture\">" + figure.svg() + "</div>\n";
}

}  // namespace ktape::nn::html
