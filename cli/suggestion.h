// The word that somebody meant, when one that they wrote is not known.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ropeway::cli {

// "; did you mean 'bench'?", or nothing when no word is near.
std::string DidYouMean(const std::string& word, const std::vector<std::string>& known);

std::vector<std::string> CommandNames(const CLI::App& app);

// One line for a command line that the parser did not take: what is wrong, and what to do about it.
std::string ExplainMistake(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv);

}  // namespace ropeway::cli
