/* Lets the search find pages by the entries of the index: by the words of names, synonyms, and the words of questions in any order. */
(function () {
  if (typeof Search === "undefined") return;
  const askingWords = new Set("how do does i can could my what which why where when use using get make need want you me we should have has with from".split(" "));
  const stemmer = new Stemmer();
  const stems = (text) =>
    [...new Set(text.toLowerCase().split(/[^\p{L}\p{N}_]+/u).filter((word) => word && !stopwords.includes(word)).map((word) => stemmer.stemWord(word)))];
  const meaning = (terms) => {
    const rest = terms.filter((term) => ![...askingWords].some((word) => stemmer.stemWord(word) === term));
    return rest.length ? rest : terms;
  };
  let entries = null;

  /* An entry is found if it has all words of the query, or the query all words of the entry; the more words they share, the better. */
  const byEntries = (terms) => {
    const index = Search._index;
    entries = entries || Object.entries(index.indexentries).map(([text, places]) => [meaning(stems(text)), places]);
    const wanted = meaning([...terms]), best = new Map();
    for (const [words, places] of entries) {
      const common = words.filter((word) => wanted.includes(word)).length;
      if (common === 0 || (common < words.length && common < wanted.length)) continue;
      const score = Math.round((2 * 95 * common) / (words.length + wanted.length));
      for (const [file, id] of places) if (!(best.get(file) && best.get(file)[0] >= score)) best.set(file, [score, id]);
    }
    return [...best].map(([file, [score, id]]) => [index.docnames[file], index.titles[file], id ? "#" + id : "", null, score, index.filenames[file]]);
  };
  const builtIn = Search.performTermsSearch;
  Search.performTermsSearch = (terms, excluded) => builtIn(terms, excluded).concat(byEntries(terms));
})();
